//! The sandbox's own network: a loopback, and on it, if domains are allowed, the proxy. Weft itself
//! accepts on the proxy's listener, which it is handed over a socket; nothing is relayed here.

use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketType, recv, send,
    sendmsg, socket,
};

use super::{Doing as _, EnterError};

/// A new network has its loopback switched off. Many test suites talk to themselves over it, and
/// nobody else is there.
pub fn switch_loopback_on() -> Result<(), EnterError> {
    loopback_on().doing("switch the loopback on")
}

fn loopback_on() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ANSWER: u16 = 1 | 4;
    const UP: u32 = 1;
    const FIRST_INTERFACE: i32 = 1;
    const ROUTES: Option<Protocol> = None;
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ANSWER.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(FIRST_INTERFACE.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let kernel = socket(AddressFamily::NETLINK, SocketType::RAW, ROUTES)?;
    send(&kernel, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 1024];
    recv(&kernel, &mut answer, RecvFlags::empty())?;
    match answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Where Weft waits for the listener of its proxy.
#[allow(clippy::disallowed_methods, reason = "the helper's way to Weft")]
pub fn reach_weft(waiting: &Path) -> Result<UnixStream, EnterError> {
    UnixStream::connect(waiting).doing("reach Weft's proxy")
}

/// Listens on the loopback, hands the listener to Weft, and says where that is.
pub fn offer_proxy(weft: &UnixStream) -> Result<String, EnterError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).doing("listen on the loopback")?;
    let address = listener.local_addr().doing("listen on the loopback")?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let handed = [listener.as_fd()];
    ancillary.push(SendAncillaryMessage::ScmRights(&handed));
    sendmsg(weft, &[IoSlice::new(&[0])], &mut ancillary, SendFlags::empty()).doing("hand the listener over")?;
    Ok(format!("http://{address}"))
}

/// How programs find the proxy.
pub fn environment(proxy: Option<&str>) -> Vec<(OsString, OsString)> {
    let Some(url) = proxy.map(OsString::from) else { return Vec::new() };
    let here = OsString::from("localhost,127.0.0.1,::1");
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    let proxies = names.into_iter().map(|name| (name.into(), url.clone()));
    proxies.chain([("NO_PROXY".into(), here.clone()), ("no_proxy".into(), here)]).collect()
}
