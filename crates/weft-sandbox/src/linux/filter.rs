//! seccomp: system calls that a command never needs and an attack does. They fail with "operation
//! not permitted", or as if the kernel did not know them where programs then do it another way.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::{Doing as _, EnterError};
use crate::helper::Order;
use crate::policy::Network;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

const REFUSED: [i64; 53] = [
    // Looking into other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Other views of the file system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Other worlds.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Large and little used doors into the kernel.
    libc::SYS_bpf,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_lookup_dcookie,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_nfsservctl,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// Makes a process or a thread, and with one of these in a world of its own.
const NEW_WORLDS: [u64; 8] = [
    libc::CLONE_NEWUSER as u64,
    libc::CLONE_NEWNS as u64,
    libc::CLONE_NEWPID as u64,
    libc::CLONE_NEWNET as u64,
    libc::CLONE_NEWIPC as u64,
    libc::CLONE_NEWUTS as u64,
    libc::CLONE_NEWCGROUP as u64,
    0x80,
];

/// Typing into a terminal in the person's place.
const TYPING: [u64; 2] = [0x5412, 0x541c];

pub fn apply(order: &Order) -> Result<(), EnterError> {
    for program in programs(order).map_err(std::io::Error::other).doing("write the system call filter")? {
        seccompiler::apply_filter(&program).map_err(std::io::Error::other).doing("filter system calls")?;
    }
    Ok(())
}

fn programs(order: &Order) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let refused = u32::try_from(libc::EPERM).unwrap_or_default();
    let unknown = u32::try_from(libc::ENOSYS).unwrap_or_default();
    Ok(vec![compile(rules(order)?, refused)?, by_number(refused, unknown)])
}

/// What depends on the arguments of a call.
fn rules(order: &Order) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    let mut worlds = Vec::new();
    for flag in NEW_WORLDS {
        worlds.push(SeccompRule::new(vec![argument(0, SeccompCmpOp::MaskedEq(flag), flag)?])?);
    }
    rules.insert(libc::SYS_clone, worlds);
    let mut typing = Vec::new();
    for request in TYPING {
        typing.push(SeccompRule::new(vec![argument(1, SeccompCmpOp::Eq, request)?])?);
    }
    rules.insert(libc::SYS_ioctl, typing);
    rules.insert(libc::SYS_socket, sockets(order)?);
    Ok(rules)
}

/// Which sockets are refused.
fn sockets(order: &Order) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let number = |family: i32| u64::try_from(family).unwrap_or_default();
    let (unix, netlink) = (number(libc::AF_UNIX), number(libc::AF_NETLINK));
    let mut families = vec![netlink];
    // Without mounts the sockets of other programs are in reach; pairs of sockets are still made.
    if order.layers.namespaces {
        families.push(unix);
    }
    // In a network of its own there is nobody to talk to but itself.
    if order.layers.namespaces || order.policy.network == Network::Open {
        families.extend([number(libc::AF_INET), number(libc::AF_INET6)]);
    }
    let others: Result<Vec<_>, _> = families.iter().map(|family| argument(0, SeccompCmpOp::Ne, *family)).collect();
    let raw = number(libc::SOCK_RAW);
    Ok(vec![
        SeccompRule::new(others?)?,
        SeccompRule::new(vec![
            argument(0, SeccompCmpOp::Ne, netlink)?,
            argument(1, SeccompCmpOp::MaskedEq(0xf), raw)?,
        ])?,
        SeccompRule::new(vec![
            argument(0, SeccompCmpOp::Eq, netlink)?,
            argument(2, SeccompCmpOp::Ne, number(libc::NETLINK_ROUTE))?,
        ])?,
    ])
}

fn argument(index: u8, operation: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    // The kernel looks at the lower half only, so a filter that saw more could be passed by.
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operation, value)
}

fn compile(rules: Rules, error: u32) -> Result<BpfProgram, seccompiler::BackendError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(error), architecture)?.try_into()
}

/// What depends on the number of a call alone, as one short chain: the kernel walks a new filter for
/// every call it knows, which with the library's longer one takes as long as starting a process.
///
/// Some calls are answered as if the kernel did not know them. The flags of `clone3` lie in memory,
/// where no filter can see them; programs then use `clone`. And x86-64 kernels may know every call
/// by a second number, which no rule here names.
fn by_number(refused: u32, unknown: u32) -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const SECOND_NUMBERS: u32 = 0x4000_0000;
    const ALLOW: u32 = 0x7fff_0000;
    const ERROR: u32 = 0x0005_0000;
    #[cfg(target_arch = "x86_64")]
    let more = [libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_uselib];
    #[cfg(not(target_arch = "x86_64"))]
    let more = [];
    let calls: Vec<u32> = REFUSED.into_iter().chain(more).filter_map(|call| u32::try_from(call).ok()).collect();
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(SECOND_NUMBERS);
    let count = u8::try_from(calls.len()).unwrap_or(u8::MAX);
    let mut program = vec![sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 }];
    for (call, index) in calls.iter().zip(0..count) {
        // Over the calls that follow, two more jumps and one return.
        program.push(sock_filter { code: JUMP_IF_EQUAL, jt: count - index + 2, jf: 0, k: *call });
    }
    program.extend([
        sock_filter { code: JUMP_IF_EQUAL, jt: 3, jf: 0, k: clone3 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 2, jf: 0, k: SECOND_NUMBERS },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ERROR | refused },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ERROR | unknown },
    ]);
    program
}
