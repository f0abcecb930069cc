//! One connection: reads requests and carries out the steps of their answers.

use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::answering::Answering;
use crate::http::{HttpError, read_request};
use crate::plan::{Step, document};

const BUFFER: usize = 8 * 1024;

/// Serves a connection until the client leaves. What goes wrong here is the client's affair or was
/// asked for; the server counts clients that left before their answer was complete.
pub(crate) async fn serve(mut socket: TcpStream, answering: Arc<Answering>) {
    let mut buffer = BytesMut::with_capacity(BUFFER);
    loop {
        let request = match read_request(&mut socket, &mut buffer).await {
            Ok(Some(request)) => request,
            Ok(None) | Err(HttpError::Io(_) | HttpError::Truncated) => return,
            Err(error @ HttpError::Malformed(_)) => {
                let answer = document(400, "text/plain", &[], error.to_string().as_bytes());
                // The client may be gone; there is nobody else to tell.
                let _gone = socket.write_all(&answer).await;
                return;
            }
        };
        let keep_alive = request.keep_alive;
        let steps = answering.answer(request);
        match carry_out(&mut socket, steps).await {
            Ok(Outcome::Sent) if keep_alive => {}
            Ok(Outcome::Sent | Outcome::Reset) => return,
            Ok(Outcome::Abandoned) | Err(_) => return answering.count_hangup(),
        }
        if buffer.is_empty() && buffer.capacity() < BUFFER {
            buffer = BytesMut::with_capacity(BUFFER);
        }
    }
}

enum Outcome {
    Sent,
    Reset,
    /// The client left while the server was waiting.
    Abandoned,
}

async fn carry_out(socket: &mut TcpStream, steps: Vec<Step>) -> io::Result<Outcome> {
    let in_parts = steps.len() > 1;
    for step in steps {
        match step {
            Step::Write(bytes) => {
                socket.write_all(&bytes).await?;
                // Lets the client read what has come so far before more follows.
                if in_parts {
                    tokio::task::yield_now().await;
                }
            }
            Step::Wait(time) => tokio::select! {
                () = tokio::time::sleep(time) => {}
                () = gone(socket) => return Ok(Outcome::Abandoned),
            },
            Step::Silence => {
                gone(socket).await;
                return Ok(Outcome::Abandoned);
            }
            Step::Reset => {
                socket.set_zero_linger()?;
                return Ok(Outcome::Reset);
            }
        }
    }
    Ok(Outcome::Sent)
}

/// Returns when the client has closed the connection. One that has sent its next request early is
/// still there, and can no longer be seen leaving.
async fn gone(socket: &TcpStream) {
    match socket.peek(&mut [0]).await {
        Ok(0) | Err(_) => {}
        Ok(_) => std::future::pending().await,
    }
}
