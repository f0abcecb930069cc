//! Another model for vectors: the old ones serve meanwhile, and what was made is never made twice. The
//! model elsewhere is a stand-in; that it is really spoken to is tested through the program.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use weft_knowledge::embed::{EmbedError, Embedder, normalise};
use weft_knowledge::{Filter, Knowledge, Places, Run, Shelf, WorkKind};

use crate::world::{NOW, World, ask, hits, index};

/// Knows that some words mean the same, and may be out of reach.
#[derive(Default)]
struct Elsewhere {
    reachable: AtomicBool,
    /// It is on this machine after all, and slow.
    here: bool,
    /// How many texts it answers for before it stops.
    patience: AtomicUsize,
    asked: Mutex<Vec<String>>,
}

const DIMENSION: usize = 8;

impl Elsewhere {
    fn new() -> Arc<Self> {
        let far = Self { patience: AtomicUsize::new(usize::MAX), ..Self::default() };
        far.reachable.store(true, Ordering::Relaxed);
        Arc::new(far)
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Embedder for Elsewhere {
    fn name(&self) -> &str {
        "elsewhere/meaning"
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn is_far(&self) -> bool {
        !self.here
    }

    fn is_slow(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let out = || EmbedError::Far("elsewhere is out of reach".to_owned());
        if !self.reachable.load(Ordering::Relaxed) {
            return Err(out());
        }
        let spent =
            self.patience.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(texts.len()));
        spent.map_err(|_| out())?;
        self.asked.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        Ok(texts.iter().map(|text| meaning(text)).collect())
    }
}

fn meaning(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSION];
    let about = [("cat", 0), ("feline", 0), ("car", 1), ("automobile", 1)];
    for (word, place) in about {
        vector[place] += text.to_lowercase().matches(word).count() as f32;
    }
    vector[2] = 0.05;
    normalise(&mut vector);
    vector
}

fn world() -> World {
    let world = World::new();
    world.write("pets.md", "# Pets\n\nEvery feline sleeps a lot.\n");
    world.write("travel.md", "# Travel\n\nThe automobile is fast.\n");
    for number in 0..300 {
        world.write(&format!("n{number}.py"), &format!("def handle_{number}():\n    pass\n"));
    }
    world
}

fn with(world: &World, far: &Arc<Elsewhere>) -> Places {
    Places { chosen: Some(Arc::clone(far) as Arc<dyn Embedder>), ..world.places() }
}

fn open(world: &World, far: &Arc<Elsewhere>) -> Knowledge {
    Knowledge::open(&with(world, far), world.folder.path()).unwrap()
}

fn run<'a>(stop: &'a AtomicBool, tell: &'a mut dyn FnMut(weft_knowledge::Progress)) -> Run<'a> {
    Run { now: NOW, stop, tell }
}

#[test]
fn the_old_vectors_serve_until_the_new_ones_are_whole() {
    let world = world();
    drop(world.index());
    let far = Elsewhere::new();
    let mut knowledge = open(&world, &far);
    let status = knowledge.status().unwrap();
    assert_eq!((status.model.as_str(), status.wanted.as_deref()), ("hashed-words-1", Some("elsewhere/meaning")));
    assert_eq!(hits(&knowledge, "handle_7")[0], "n7.py:1");
    assert_eq!(far.asked(), 0, "opening and searching sends nothing while the old vectors serve");
    let reader = open(&world, &far);
    let (stop, mut told) = (AtomicBool::new(false), Vec::new());
    let mut tell = |progress: weft_knowledge::Progress| {
        told.push((progress.files, progress.of));
        assert_eq!(hits(&reader, "handle_7")[0], "n7.py:1");
    };
    assert!(knowledge.renew(run(&stop, &mut tell)).unwrap());
    let chunks = knowledge.status().unwrap().counts.chunks as usize;
    assert!(told.len() >= 2 && told.last() == Some(&(chunks, chunks)), "{told:?}");
    assert_eq!(far.asked(), chunks, "each piece once");
    for knowledge in [&knowledge, &open(&world, &far)] {
        let status = knowledge.status().unwrap();
        assert!(status.up_to_date && status.wanted.is_none() && status.model == "elsewhere/meaning", "{status:?}");
        assert_eq!(hits(knowledge, "a cat")[0], "pets.md:3", "meaning is found, which the hashed words have not");
    }
}

#[test]
fn what_was_made_before_it_failed_is_not_sent_again() {
    let world = world();
    drop(world.index());
    let far = Elsewhere::new();
    far.patience.store(150, Ordering::Relaxed);
    let mut knowledge = open(&world, &far);
    let (stop, mut silent) = (AtomicBool::new(false), |_| {});
    let error = knowledge.renew(run(&stop, &mut silent)).unwrap_err();
    assert!(error.to_string().contains("out of reach"), "{error}");
    let sent = far.asked();
    assert!(sent > 0 && sent <= 150);
    assert_eq!(hits(&knowledge, "handle_7")[0], "n7.py:1", "the old vectors serve on");
    // A file that changes in between is seen too, and nobody is kept from writing.
    world.write("n5.py", "def handle_5():\n    return 'a cat'\n");
    far.reachable.store(false, Ordering::Relaxed);
    let report = index(&mut knowledge);
    assert!(report.without_meaning.is_some_and(|why| why.contains("out of reach")));
    assert_eq!(hits(&knowledge, "return a cat")[0], "n5.py:1");
    far.reachable.store(true, Ordering::Relaxed);
    far.patience.store(usize::MAX, Ordering::Relaxed);
    let mut knowledge = open(&world, &far);
    assert!(knowledge.wants_renewal());
    assert_eq!(index(&mut knowledge).without_meaning, None);
    let chunks = knowledge.status().unwrap().counts.chunks as usize;
    assert!(far.asked() <= chunks + 1, "{} texts for {chunks} pieces, one of which changed", far.asked());
    assert!(knowledge.status().unwrap().up_to_date);
    drop(knowledge);
    assert_eq!(hits(&open(&world, &far), "a feline")[0], "pets.md:3");
}

#[test]
fn a_slow_model_of_this_machine_can_be_stopped_and_goes_on_where_it_was() {
    let world = world();
    let slow = Elsewhere { here: true, ..Elsewhere::default() };
    slow.reachable.store(true, Ordering::Relaxed);
    slow.patience.store(usize::MAX, Ordering::Relaxed);
    let slow = Arc::new(slow);
    let mut knowledge = open(&world, &slow);
    let (stop, mut told) = (AtomicBool::new(false), 0);
    let mut tell = |progress: weft_knowledge::Progress| {
        // Files are read, and so many of their pieces have a vector.
        if progress.finishing && progress.files >= 100 && progress.files < progress.of {
            told = progress.files;
            stop.store(true, Ordering::Relaxed);
        }
    };
    let report = knowledge.index(None, run(&stop, &mut tell)).unwrap();
    let made = slow.asked();
    assert!(report.stopped && told >= 100 && made < 200, "stopped at {told}, {made} made");
    assert_eq!(hits(&knowledge, "handle_299")[0], "n299.py:1", "everything is found by its words");
    let asked = slow.asked();
    let mut knowledge = open(&world, &slow);
    assert_eq!(slow.asked(), asked, "whoever opens it waits for nothing");
    let behind = knowledge.status().unwrap().without_meaning as usize;
    assert!(behind > 100, "{behind}");
    assert!(!index(&mut knowledge).stopped);
    assert_eq!(slow.asked() - asked, behind, "what was made stays");
    let status = knowledge.status().unwrap();
    assert!(status.up_to_date && status.without_meaning == 0, "{status:?}");
    // A file or two are no matter.
    world.write("n5.py", "def handle_5():\n    return 'a cat'\n");
    index(&mut knowledge);
    assert_eq!(knowledge.status().unwrap().without_meaning, 0);
    // And a rebuild does not make again what is sound.
    let before = slow.asked();
    knowledge.rebuild().unwrap();
    assert_eq!(slow.asked(), before);
    assert!(knowledge.status().unwrap().up_to_date);
    assert_eq!(hits(&knowledge, "a feline")[0], "pets.md:3");
}

#[test]
fn words_are_found_while_the_model_elsewhere_is_out_of_reach() {
    let world = world();
    let far = Elsewhere::new();
    let mut knowledge = open(&world, &far);
    assert_eq!(index(&mut knowledge).without_meaning, None);
    far.reachable.store(false, Ordering::Relaxed);
    world.write("new.md", "# New\n\nThe zeppelin flies.\n");
    let report = index(&mut knowledge);
    assert!(report.without_meaning.is_some());
    assert_eq!(hits(&knowledge, "zeppelin")[0], "new.md:3", "by its words, without a vector of the question either");
    let answer = ask(&knowledge, "zeppelin", Filter::default(), 10);
    assert!(answer.without_meaning.is_some_and(|why| why.contains("out of reach")), "and it is said");
    let before = far.asked();
    let mut knowledge = open(&world, &far);
    let behind = knowledge.status().unwrap().without_meaning as usize;
    assert!(behind > 0);
    assert_eq!(far.asked(), before, "whoever opens it sends nothing");
    far.reachable.store(true, Ordering::Relaxed);
    assert_eq!(index(&mut knowledge).without_meaning, None);
    let status = knowledge.status().unwrap();
    assert!(status.up_to_date && status.without_meaning == 0, "{status:?}");
    assert_eq!(far.asked(), before + behind);
    // What is gone is gone from the vectors as well.
    std::fs::remove_file(world.folder.path().join("pets.md")).unwrap();
    index(&mut knowledge);
    assert!(!hits(&knowledge, "cat").contains(&"pets.md:3".to_owned()));
    assert!(knowledge.status().unwrap().up_to_date);
}

#[test]
fn a_rebuild_keeps_vectors_that_were_paid_for() {
    let world = world();
    let far = Elsewhere::new();
    let mut knowledge = open(&world, &far);
    index(&mut knowledge);
    let before = far.asked();
    knowledge.rebuild().unwrap();
    assert_eq!(far.asked(), before);
    assert!(knowledge.status().unwrap().up_to_date);
    assert_eq!(hits(&knowledge, "cat")[0], "pets.md:3");
}

#[test]
fn vectors_of_the_wrong_length_are_refused_and_nothing_is_damaged() {
    struct Liar(Arc<Elsewhere>);
    impl Embedder for Liar {
        fn name(&self) -> &str {
            "elsewhere/liar"
        }
        fn dimension(&self) -> usize {
            DIMENSION + 1
        }
        fn is_far(&self) -> bool {
            true
        }
        fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
            self.0.embed(texts)
        }
    }
    let world = world();
    drop(world.index());
    let places = Places { chosen: Some(Arc::new(Liar(Elsewhere::new()))), ..world.places() };
    let mut knowledge = Knowledge::open(&places, world.folder.path()).unwrap();
    let (stop, mut silent) = (AtomicBool::new(false), |_| {});
    let error = knowledge.renew(run(&stop, &mut silent)).unwrap_err();
    assert!(error.to_string().contains("8 numbers"), "{error}");
    assert_eq!(hits(&knowledge, "handle_7")[0], "n7.py:1");
    drop(knowledge);
    assert!(world.open().status().unwrap().up_to_date);
}

#[test]
fn a_program_that_runs_for_long_renews_in_the_background() {
    let world = world();
    drop(world.index());
    let far = Elsewhere::new();
    let shelf = Arc::new(Shelf::new(with(&world, &far), Arc::new(|| NOW)));
    let ask_it = |text: &str| {
        let text = text.to_owned();
        shelf.ask(world.folder.path(), move |knowledge| {
            let found = ask(knowledge, &text, Filter::default(), 3);
            let status = knowledge.status()?;
            Ok((found.hits.first().map(|hit| hit.path.clone()), status.model))
        })
    };
    assert_eq!(ask_it("handle_7").unwrap().0.as_deref(), Some("n7.py"));
    let begun = Instant::now();
    while ask_it("handle_7").unwrap().1 != "elsewhere/meaning" {
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", shelf.work(world.folder.path()));
        std::thread::sleep(Duration::from_millis(10));
    }
    let (work, _) = shelf.work(world.folder.path());
    assert_eq!(work.map(|work| (work.kind, work.error)), Some((WorkKind::Renew, None)));
    assert_eq!(ask_it("cat").unwrap().0.as_deref(), Some("pets.md"));
}

#[test]
fn a_kill_between_the_two_moves_of_a_swap_costs_nothing() {
    let world = world();
    let far = Elsewhere::new();
    index(&mut open(&world, &far));
    let before = far.asked();
    std::fs::rename(world.kept().join("vectors"), world.kept().join("renewed")).unwrap();
    let knowledge = open(&world, &far);
    assert!(knowledge.status().unwrap().up_to_date);
    assert_eq!(hits(&knowledge, "cat")[0], "pets.md:3");
    assert_eq!(far.asked(), before + 1, "only the question");
}

#[test]
fn what_a_changed_document_still_says_is_not_made_again() {
    let world = World::new();
    let far = Elsewhere::new();
    let section =
        |number: usize, word: &str| format!("## Part {number}\n\nThe {word} of part {number} is described.\n\n");
    let document = |middle: &str| -> String {
        (0..6).map(|number| section(number, if number == 3 { middle } else { "cat" })).collect()
    };
    world.write("paper.md", &format!("# Paper\n\n{}", document("cat")));
    let mut knowledge = open(&world, &far);
    index(&mut knowledge);
    let whole = far.asked();
    assert!(whole >= 6, "{whole}");
    // One section says something else, and everything behind the new line stands elsewhere.
    world.write("paper.md", &format!("# Paper\n\n\n{}", document("automobile")));
    index(&mut knowledge);
    let again: Vec<String> = far.asked.lock().unwrap().iter().skip(whole).cloned().collect();
    assert_eq!(again.len(), 1, "{again:?}");
    assert!(again[0].contains("automobile"), "{again:?}");
    assert_eq!(hits(&knowledge, "the car")[0], "paper.md:18", "by meaning, where it stands now");
    let last = ask(&knowledge, "the cat of part 5", Filter::default(), 1).hits;
    assert_eq!((last[0].line, last[0].path.as_str()), (26, "paper.md"));
    let now = std::fs::metadata(world.folder.path().join("paper.md")).unwrap().modified().unwrap();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    let since = |since| ask(&knowledge, "part", Filter { since: Some(since), ..Filter::default() }, 50).hits.len();
    assert_eq!((since(now), since(now + 1)), (ask(&knowledge, "part", Filter::default(), 50).hits.len(), 0));
    // Once more from the beginning: it is the same, and what is gone is gone.
    world.write("paper.md", "# Paper\n\n## Part 1\n\nThe cat of part 1 is described.\n");
    let before = far.asked();
    index(&mut knowledge);
    assert_eq!(far.asked(), before);
    assert!(
        hits(&knowledge, "automobile").iter().all(|place| place.starts_with("paper.md:") && !place.ends_with(":18"))
    );
    drop(knowledge);
    let fresh = World::new();
    fresh.write("paper.md", "# Paper\n\n## Part 1\n\nThe cat of part 1 is described.\n");
    let (fresh, _) = fresh.index();
    let knowledge = open(&world, &far);
    assert_eq!(hits(&knowledge, "cat of part"), hits(&fresh, "cat of part"));
    assert_eq!(crate::world::all(&knowledge).len(), crate::world::all(&fresh).len());
}
