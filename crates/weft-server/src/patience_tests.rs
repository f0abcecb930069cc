use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

#[tokio::test(start_paused = true)]
async fn who_does_not_read_is_given_up_and_who_reads_slowly_is_not() {
    let (ours, mut theirs) = tokio::io::duplex(16);
    let mut ours = Patient::new(ours);
    let begun = Instant::now();
    // A little every fifty seconds is enough, however long it takes.
    let reading = async {
        let mut read = [0; 16];
        for _ in 0..5 {
            tokio::time::sleep(STANDSTILL - Duration::from_secs(10)).await;
            theirs.read_exact(&mut read).await.unwrap();
        }
    };
    let (sent, ()) = tokio::join!(ours.write_all(&[7; 80]), reading);
    sent.unwrap();
    assert!(begun.elapsed() > 3 * STANDSTILL, "{:?}", begun.elapsed());

    let stuck = Instant::now();
    ours.write_all(&[7; 16]).await.unwrap();
    let failed = ours.write_all(&[7; 16]).await.unwrap_err();
    assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
    assert_eq!(stuck.elapsed(), STANDSTILL);
    drop(theirs);
}
