//! A small machine to attack: a workspace, things outside it, secrets, and neighbours.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::rc::Rc;
use std::sync::OnceLock;

use weft_sandbox::support::{Choice, Layers};
use weft_sandbox::{Helper, Limits, Network, Order, Places, Policy, Setting, Support};

use crate::refusal::Refusal;

pub const SECRET: &str = "the-key-under-the-mat";

/// Where worlds are made, and the programs that are run in them.
pub struct Ground {
    folder: PathBuf,
    helper: PathBuf,
    attacker: PathBuf,
    user: Option<u32>,
    refusal: Option<Refusal>,
    _own: Option<tempfile::TempDir>,
}

impl Ground {
    pub fn own() -> Self {
        Self {
            // Not in /tmp, which a sandbox has its own of.
            folder: env!("CARGO_TARGET_TMPDIR").into(),
            helper: env!("CARGO_BIN_EXE_weft-sandbox").into(),
            attacker: std::env::current_exe().unwrap(),
            user: None,
            refusal: None,
            _own: None,
        }
    }

    /// For another user, for whom everything is run. Only root can make one, and not below a folder
    /// that is closed to others, as the one where this was built may be.
    pub fn of(user: u32) -> Self {
        let open = |folder: &&Path| {
            let all_may =
                |folder: &Path| fs::metadata(folder).is_ok_and(|found| found.permissions().mode() & 0o5 == 0o5);
            folder.ancestors().all(all_may)
        };
        let candidates = [env!("CARGO_TARGET_TMPDIR"), "/srv", "/opt", "/mnt"].map(Path::new);
        let base = candidates.iter().copied().find(open).expect("one of /srv, /opt and /mnt is open to everybody");
        let own = tempfile::Builder::new().prefix("weft-attacks").tempdir_in(base).unwrap();
        fs::set_permissions(own.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let here = Self::own();
        let copied = |program: &Path, name: &str| {
            let copy = own.path().join(name);
            fs::copy(program, &copy).unwrap();
            copy
        };
        Self {
            folder: own.path().to_owned(),
            helper: copied(&here.helper, "weft-sandbox"),
            attacker: copied(&here.attacker, "attacker"),
            user: Some(user),
            refusal: None,
            _own: Some(own),
        }
    }

    /// For another user, to whom the kernel gives no namespaces, with a bubblewrap that is made of the
    /// installed one by `prepare`. `None`, said aloud, where that cannot be tried.
    pub fn refused_to(user: u32, prepare: impl Fn(&Path)) -> Option<Self> {
        if !is_root() {
            eprintln!("SKIPPED: it takes root to try this");
            return None;
        }
        let ground = Self::of(user);
        let refusal = Refusal::with(&ground.folder, prepare, ":")?;
        Some(Self { refusal: Some(refusal), ..ground })
    }

    /// What the machine can hold for whom this is.
    pub fn support(&self) -> Support {
        let output = self.command(&self.helper, Path::new("/")).args(["__sandbox", "probe"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A program, for whom this is.
    fn command(&self, program: &Path, folder: &Path) -> Command {
        let Some((refusal, user)) = self.refusal.as_ref().zip(self.user) else {
            let mut command = Command::new(program);
            command.current_dir(folder);
            if let Some(user) = self.user {
                command.uid(user).gid(user);
            }
            return command;
        };
        refusal.command(user, program, folder)
    }
}

pub struct World {
    ground: Rc<Ground>,
    root: tempfile::TempDir,
    pub workspace: PathBuf,
    pub temp: PathBuf,
    pub outside: PathBuf,
    victim: Child,
    listener: TcpListener,
    _socket: UnixListener,
    _abstract_socket: UnixListener,
    abstract_name: String,
}

pub fn helper() -> Helper {
    Helper::at(env!("CARGO_BIN_EXE_weft-sandbox"))
}

pub fn support() -> &'static Support {
    static SUPPORT: OnceLock<Support> = OnceLock::new();
    SUPPORT.get_or_init(|| Support::probe(Some(&helper())))
}

/// All that this machine can do; `None`, said aloud, if a test cannot be run here.
pub fn full() -> Option<Layers> {
    let lacking: Vec<_> = support().lacking().collect();
    if !lacking.is_empty() {
        eprintln!("SKIPPED: this machine cannot hold {lacking:?}: {:?}", support());
        return None;
    }
    match support().choose(Setting::Required, &Network::Off) {
        Ok(Choice::Sandboxed(layers)) => Some(layers),
        other => panic!("{other:?}"),
    }
}

pub fn landlock_only() -> Option<Layers> {
    if support().landlock < 6 || !support().seccomp {
        eprintln!("SKIPPED: this machine has no Landlock 6: {:?}", support());
        return None;
    }
    Some(Layers { namespaces: false, landlock: true, process_limit: false })
}

pub fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

pub const TIGHT: Limits =
    Limits { processes: Some(64), open_files: Some(256), memory_mb: Some(256), file_mb: Some(8), cpu_seconds: Some(2) };

impl World {
    pub fn new() -> Self {
        Self::on(&Rc::new(Ground::own()))
    }

    pub fn on(ground: &Rc<Ground>) -> Self {
        let root = tempfile::Builder::new().prefix("world").tempdir_in(&ground.folder).unwrap();
        let path = root.path().canonicalize().unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let file = |name: &str, text: &str| {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        file("ws/.git/config", "[core]\n");
        file("ws/.git/hooks/pre-commit.sample", "");
        file("ws/.git/HEAD", "ref: refs/heads/main\n");
        file("ws/sub/.git/config", "[core]\n");
        file("ws/sub/.git/HEAD", "ref: refs/heads/main\n");
        file("ws/.bashrc", "# mine\n");
        file("ws/readme", "hello\n");
        file("outside/victim", "untouched\n");
        file("home/.ssh/id_ed25519", SECRET);
        file("home/.netrc", SECRET);
        file("home/usual", "usual\n");
        file("weft/vault", SECRET);
        file("weft/outputs/call-1.txt", "long output\n");
        fs::create_dir(path.join("temp")).unwrap();
        let socket = UnixListener::bind(path.join("outside/agent.sock")).unwrap();
        let abstract_name = format!("weft-attacks-{}", path.file_name().unwrap().to_str().unwrap());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let abstract_socket = UnixListener::bind_addr(&address).unwrap();
        if let Some(user) = ground.user {
            give(&path, user);
        }
        let mut victim = Command::new("sleep");
        victim.arg("600").current_dir(path.join("outside")).env("OUTSIDE_SECRET", SECRET).stdout(Stdio::null());
        if let Some(user) = ground.user {
            victim.uid(user).gid(user);
        }
        Self {
            workspace: path.join("ws"),
            temp: path.join("temp"),
            outside: path.join("outside"),
            root,
            ground: Rc::clone(ground),
            victim: victim.spawn().unwrap(),
            listener: TcpListener::bind("127.0.0.1:0").unwrap(),
            _socket: socket,
            _abstract_socket: abstract_socket,
            abstract_name,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub fn policy(&self, network: Network, limits: Limits) -> Policy {
        let places = Places {
            workspace: self.workspace.clone(),
            nested: weft_sandbox::repository::nested_and_known(&self.workspace, &self.path("known")).unwrap(),
            temp: self.temp.clone(),
            user_home: Some(self.path("home")),
            weft_home: vec![self.path("weft")],
            outputs: Some(self.path("weft/outputs")),
            also_writable: vec![],
            also_unreadable: vec![],
            also_protected: vec![],
        };
        places.policy(network, limits).unwrap().resolved().unwrap()
    }

    /// Takes away what stands in for what is reserved.
    pub fn clear(&self) {
        self.policy(Network::Off, TIGHT).reserved.iter().for_each(weft_sandbox::Reserved::clear);
    }

    pub fn order(&self, layers: Layers) -> Order {
        let mut order = Order::new(self.policy(Network::Off, TIGHT), &self.workspace, layers);
        order.lock = Some(self.path("temp/.lock"));
        order.bubblewrap = self.ground.refusal.as_ref().map(|_| "/usr/bin/bwrap".into());
        order
    }

    /// A line for bash, in the sandbox.
    pub fn sandboxed(&self, order: &Order, line: &str) -> Command {
        let shell = ["bash", "-c", line].map(Into::into);
        let helper = Helper::at(&self.ground.helper);
        let mut command = self.ground.command(helper.program(), &self.workspace);
        command.args(helper.arguments(order, shell));
        self.prepare(&mut command);
        command
    }

    pub fn run(&self, layers: Layers, line: &str) -> (Option<i32>, String) {
        said(self.sandboxed(&self.order(layers), line).output().unwrap())
    }

    /// The same on a ground that was made before.
    pub fn run_on_ground(&self, layers: Layers, line: &str) -> (Option<i32>, String) {
        let mut command = self.ground.command(&self.ground.attacker, &self.workspace);
        command.args(["--ignored", "--exact", "attacker::run_on_a_ground", "--nocapture"]);
        command.env("HELPER", &self.ground.helper).env("LINE", line);
        command.env("ORDER", serde_json::to_string(&self.order(layers)).unwrap());
        self.prepare(&mut command);
        said(command.output().unwrap())
    }

    /// The same line with nothing around it.
    pub fn plain(&self, line: &str) -> (Option<i32>, String) {
        let mut command = self.ground.command(Path::new("bash"), &self.workspace);
        command.args(["-c", line]);
        self.prepare(&mut command);
        said(command.output().unwrap())
    }

    fn prepare(&self, command: &mut Command) {
        command
            .env("OUTSIDE", &self.outside)
            .env("HOME", self.path("home"))
            .env("WEFT", self.path("weft"))
            .env("VICTIM", self.victim.id().to_string())
            .env("PORT", self.listener.local_addr().unwrap().port().to_string())
            .env("ABSTRACT", &self.abstract_name)
            .env("ATTACKER", &self.ground.attacker)
            .stdin(Stdio::null());
    }

    /// Everything that no command may change, as one text.
    pub fn snapshot(&self) -> String {
        let mut text = String::new();
        for name in ["outside", "home", "weft", "ws/.git", "ws/sub/.git", "ws/.bashrc", "ws/.weft"] {
            describe(&self.path(name), &mut text);
        }
        text
    }

    pub fn victim_lives(&mut self) -> bool {
        self.victim.try_wait().unwrap().is_none()
    }

    pub fn visitors(&self) -> usize {
        self.listener.set_nonblocking(true).unwrap();
        self.listener.incoming().take_while(Result::is_ok).count()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

pub fn said(output: Output) -> (Option<i32>, String) {
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn give(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

fn describe(path: &Path, text: &mut String) {
    use std::fmt::Write as _;
    let Ok(found) = fs::symlink_metadata(path) else { return };
    let mode = found.permissions().mode();
    // When what is reserved comes and goes, the date of its folder changes.
    let modified = (!path.ends_with(".git")).then(|| found.modified().unwrap());
    writeln!(text, "{} {mode:o} {} {modified:?}", path.display(), found.len()).unwrap();
    if found.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for entry in entries {
            describe(&entry, text);
        }
    } else if found.is_file() {
        writeln!(text, "{}", fs::read_to_string(path).unwrap_or_default()).unwrap();
    }
}
