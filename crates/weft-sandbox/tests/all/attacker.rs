//! Attacks that need system calls. The test program runs itself inside the sandbox to make them: the
//! test below does the one that `ATTACK` names and ends the process with 0 if it got through.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream};
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use rustix::thread::UnshareFlags;
use weft_sandbox::{Ground, Helper, Order};

#[test]
#[ignore = "run by the attacks, inside the sandbox"]
fn perform() {
    let attack = std::env::var("ATTACK").unwrap();
    let Some((_, attack)) = CALLS.iter().find(|(name, _)| *name == attack) else { panic!("no attack {attack}") };
    match attack() {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

/// Makes a ground for the order in `ORDER`, as whoever runs this, and runs `LINE` on it. Ends
/// as the command ends.
#[test]
#[ignore = "run by the attacks, outside the sandbox"]
fn run_on_a_ground() {
    let helper = Helper::at(variable("HELPER"));
    let mut order: Order = serde_json::from_str(&variable("ORDER")).unwrap();
    let ground = match Ground::make(&helper, &order) {
        Ok(ground) => ground,
        Err(error) => panic!("weft sandbox: {error}"),
    };
    assert!(ground.is_for(&order));
    order.ground = Some(ground.joined());
    let shell = ["bash", "-c", &variable("LINE")].map(Into::into);
    let mut command = std::process::Command::new(helper.program());
    command.args(helper.arguments(&order, shell)).env_remove("ORDER").env_remove("LINE").env_remove("HELPER");
    std::process::exit(command.status().unwrap().code().unwrap_or(255));
}

type Call = fn() -> io::Result<()>;

pub const CALLS: [(&str, Call); 36] = [
    ("ptrace-parent", || ptrace(i64::from(rustix::process::getppid().unwrap().as_raw_nonzero().get()))),
    ("ptrace-victim", || ptrace(victim())),
    ("process-vm-readv", || call(libc::SYS_process_vm_readv, [victim(), 0, 0, 0, 0, 0])),
    ("pidfd-getfd", pidfd_getfd),
    ("kill-victim", || Ok(rustix::process::kill_process(pid(victim()), Signal::KILL)?)),
    ("mount-tmpfs", || Ok(rustix::mount::mount("tmpfs", ".", "tmpfs", rustix::mount::MountFlags::empty(), None)?)),
    ("remount-root", || Ok(rustix::mount::mount_remount("/", rustix::mount::MountFlags::BIND, "")?)),
    ("unmount-protection", || Ok(rustix::mount::unmount(".git/hooks", rustix::mount::UnmountFlags::DETACH)?)),
    ("chroot", || Ok(rustix::process::chroot(".")?)),
    ("pivot-root", || Ok(rustix::process::pivot_root(".", ".")?)),
    ("unshare-user", || unshare(UnshareFlags::NEWUSER)),
    ("unshare-mounts", || unshare(UnshareFlags::NEWNS)),
    ("clone-user", || call(libc::SYS_clone, [i64::from(libc::CLONE_NEWUSER | libc::SIGCHLD), 0, 0, 0, 0, 0])),
    ("setns", || call(libc::SYS_setns, [i64::from(File::open("/proc/self/ns/net")?.as_raw_fd()), 0, 0, 0, 0, 0])),
    ("open-by-handle", || call(libc::SYS_open_by_handle_at, [-100, 0, 0, 0, 0, 0])),
    ("bpf", || call(libc::SYS_bpf, [0; 6])),
    ("keyctl", || call(libc::SYS_keyctl, [0, -3, 0, 0, 0, 0])),
    ("userfaultfd", || call(libc::SYS_userfaultfd, [1, 0, 0, 0, 0, 0])),
    ("io-uring", io_uring),
    ("perf-event", perf_event),
    ("load-module", || call(libc::SYS_finit_module, [0; 6])),
    ("kexec", || call(libc::SYS_kexec_load, [0; 6])),
    ("second-numbers", || call(0x4000_0000 + libc::SYS_getpid, [0; 6])),
    ("type-into-terminal", type_into_terminal),
    ("raw-socket", || socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)),
    ("packet-socket", || socket(libc::AF_PACKET, libc::SOCK_DGRAM, 0)),
    ("vsock", || socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("audit-socket", || socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_AUDIT)),
    ("connect-loopback", || connect(SocketAddr::from(([127, 0, 0, 1], number("PORT"))))),
    ("connect-metadata", || connect(SocketAddr::from(([169, 254, 169, 254], 80)))),
    ("connect-address", || connect(SocketAddr::from(([192, 0, 2, 1], 443)))),
    ("send-udp", || UdpSocket::bind("0.0.0.0:0")?.send_to(b"x", "192.0.2.1:53").map(drop)),
    ("outside-socket", || UnixStream::connect(Path::new(&variable("OUTSIDE")).join("agent.sock")).map(drop)),
    ("abstract-socket", || UnixStream::connect_addr(&UnixAddress::from_abstract_name(variable("ABSTRACT"))?).map(drop)),
    ("memory-hog", memory_hog),
    ("fork-bomb", fork_bomb),
];

fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

fn number(name: &str) -> u16 {
    variable(name).parse().unwrap()
}

fn victim() -> i64 {
    variable("VICTIM").parse().unwrap()
}

fn pid(raw: i64) -> Pid {
    Pid::from_raw(i32::try_from(raw).unwrap()).unwrap()
}

/// A bare system call. An error about its arguments means that it was let in.
fn call(number: i64, [a, b, c, d, e, f]: [i64; 6]) -> io::Result<()> {
    // SAFETY: no call here is given a pointer, and none can reach memory of this process.
    let done = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        _ if done >= 0 => {
            if number == libc::SYS_clone && done == 0 {
                std::process::exit(0);
            }
            Ok(())
        }
        Some(libc::EFAULT | libc::EINVAL | libc::EBADF | libc::ENOEXEC | libc::ENOKEY) => Ok(()),
        _ => Err(error),
    }
}

fn ptrace(process: i64) -> io::Result<()> {
    let attach = i64::from(libc::PTRACE_SEIZE);
    call(libc::SYS_ptrace, [attach, process, 0, 0, 0, 0])
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the table of open files stays shared.
    let done = std::thread::spawn(move || unsafe { rustix::thread::unshare_unsafe(flags) }).join().unwrap();
    match done {
        // A process with threads may not change its user; it was let in as far as that.
        Err(rustix::io::Errno::INVAL) => Ok(()),
        done => Ok(done?),
    }
}

fn pidfd_getfd() -> io::Result<()> {
    let process = rustix::process::pidfd_open(pid(victim()), rustix::process::PidfdFlags::empty())?;
    call(libc::SYS_pidfd_getfd, [i64::from(process.as_raw_fd()), 1, 0, 0, 0, 0])
}

fn io_uring() -> io::Result<()> {
    call(libc::SYS_io_uring_setup, [1, 0, 0, 0, 0, 0])
}

fn perf_event() -> io::Result<()> {
    call(libc::SYS_perf_event_open, [0, 0, -1, -1, 0, 0])
}

fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<()> {
    // SAFETY: takes and gives numbers only; the descriptor is owned from here on.
    let made = unsafe { libc::socket(family, kind, protocol) };
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just made and nobody else has it.
    drop(unsafe { OwnedFd::from_raw_fd(made) });
    Ok(())
}

fn connect(address: SocketAddr) -> io::Result<()> {
    TcpStream::connect_timeout(&address, Duration::from_millis(300)).map(drop)
}

fn type_into_terminal() -> io::Result<()> {
    let control = File::options().read(true).write(true).open("/dev/ptmx")?;
    // SAFETY: the pointer is to a byte that outlives the call.
    let done = unsafe { libc::ioctl(control.as_raw_fd(), libc::TIOCSTI, c"x".as_ptr()) };
    let error = io::Error::last_os_error();
    // Not our terminal, or the kernel has it switched off: the filter did not stop it.
    if done == 0 || error.raw_os_error() == Some(libc::EIO) { Ok(()) } else { Err(error) }
}

fn memory_hog() -> io::Result<()> {
    let mut held: Vec<Vec<u8>> = Vec::new();
    for _ in 0..64 {
        let mut block = Vec::new();
        block.try_reserve_exact(16 * 1024 * 1024).map_err(io::Error::other)?;
        block.resize(16 * 1024 * 1024, 1);
        held.push(block);
    }
    Ok(())
}

/// Counts how many children can be had at once. More than 500 is a bomb: 64 are allowed, and root
/// has up to 300 more until the numbers have been used up once.
fn fork_bomb() -> io::Result<()> {
    let mut children = Vec::new();
    let mut refused = Ok(());
    for _ in 0..500 {
        match std::process::Command::new("sleep").arg("20").spawn() {
            Ok(child) => children.push(child),
            Err(error) => {
                refused = Err(error);
                break;
            }
        }
    }
    for mut child in children {
        let _ = child.kill();
        let _ = child.wait();
    }
    refused
}
