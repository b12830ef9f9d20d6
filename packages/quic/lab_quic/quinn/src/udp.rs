// SPDX-License-Identifier: GPL-2.0-or-later
//! A UDP socket that takes and gives many datagrams a call: each call into the virtual kernel costs wall time.

use std::io;
use std::mem::zeroed;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::ptr::null_mut;
use std::time::Duration;

use libc::{c_int, c_void, iovec, mmsghdr, sockaddr_in, socklen_t};

const BATCH: usize = 32;
const DATAGRAM_BYTES: usize = 2048;
const BUFFER_BYTES: c_int = 16 << 20;

pub struct Udp {
    fd: c_int,
    room: Vec<[u8; DATAGRAM_BYTES]>,
}

/// A datagram to send: where it lies in the buffer of a batch.
pub struct Outgoing {
    pub to: SocketAddr,
    pub begin: usize,
    pub end: usize,
}

fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn raw(address: SocketAddr) -> sockaddr_in {
    // SAFETY: all zeros is a sockaddr_in.
    let mut found: sockaddr_in = unsafe { zeroed() };
    found.sin_family = libc::AF_INET as u16;
    found.sin_port = address.port().to_be();
    if let SocketAddr::V4(v4) = address {
        found.sin_addr.s_addr = u32::from(*v4.ip()).to_be();
    }
    found
}

fn address(from: &sockaddr_in) -> SocketAddr {
    SocketAddrV4::new(Ipv4Addr::from(u32::from_be(from.sin_addr.s_addr)), u16::from_be(from.sin_port)).into()
}

impl Udp {
    pub fn bind(port: u16) -> io::Result<Self> {
        // SAFETY: plain system calls on values that live through them.
        unsafe {
            let fd = checked(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
            let own = raw(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port).into());
            checked(libc::bind(fd, (&raw const own).cast(), size_of::<sockaddr_in>() as socklen_t))?;
            let udp = Udp { fd, room: vec![[0; DATAGRAM_BYTES]; BATCH] };
            udp.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, BUFFER_BYTES)?;
            udp.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, BUFFER_BYTES)?;
            udp.set(libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO)?; // no fragments (RFC 9000, section 14)
            libc::prctl(libc::PR_SET_TIMERSLACK, 1); // a pacer's timer fires when it is due
            Ok(udp)
        }
    }

    fn set(&self, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
        // SAFETY: the kernel reads one c_int.
        let done = unsafe { libc::setsockopt(self.fd, level, name, (&raw const value).cast(), size_of::<c_int>() as socklen_t) };
        checked(done).map(drop)
    }

    /// Take in what has arrived, without waiting; returns whether there may be more.
    pub fn receive(&mut self, mut each: impl FnMut(SocketAddr, &[u8])) -> io::Result<bool> {
        // SAFETY: every pointer leads to memory that lives through the call.
        unsafe {
            let mut from: [sockaddr_in; BATCH] = zeroed();
            let mut parts: [iovec; BATCH] = zeroed();
            let mut headers: [mmsghdr; BATCH] = zeroed();
            for at in 0..BATCH {
                parts[at] = iovec { iov_base: self.room[at].as_mut_ptr().cast(), iov_len: DATAGRAM_BYTES };
                let header = &mut headers[at].msg_hdr;
                header.msg_name = (&raw mut from[at]).cast();
                header.msg_namelen = size_of::<sockaddr_in>() as socklen_t;
                header.msg_iov = &mut parts[at];
                header.msg_iovlen = 1;
            }
            let got = libc::recvmmsg(self.fd, headers.as_mut_ptr(), BATCH as u32, libc::MSG_DONTWAIT, null_mut());
            if got < 0 {
                let error = io::Error::last_os_error();
                // A refused connection is what ICMP reports: the handshake's own timer decides.
                let none = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR | libc::ECONNREFUSED));
                return if none { Ok(false) } else { Err(error) };
            }
            for at in 0..got as usize {
                each(address(&from[at]), &self.room[at][..headers[at].msg_len as usize]);
            }
            Ok(got as usize == BATCH)
        }
    }

    /// Send datagrams in their order; waits where the socket's buffer is full.
    pub fn send(&self, buffer: &[u8], batch: &[Outgoing]) -> io::Result<()> {
        for some in batch.chunks(BATCH) {
            let mut done = 0;
            while done < some.len() {
                done += self.send_some(buffer, &some[done..])?;
            }
        }
        Ok(())
    }

    fn send_some(&self, buffer: &[u8], batch: &[Outgoing]) -> io::Result<usize> {
        // SAFETY: every pointer leads to memory that lives through the call, and the kernel only reads it.
        unsafe {
            let mut to: [sockaddr_in; BATCH] = zeroed();
            let mut parts: [iovec; BATCH] = zeroed();
            let mut headers: [mmsghdr; BATCH] = zeroed();
            for (at, datagram) in batch.iter().enumerate() {
                to[at] = raw(datagram.to);
                let bytes = &buffer[datagram.begin..datagram.end];
                parts[at] = iovec { iov_base: bytes.as_ptr().cast_mut().cast::<c_void>(), iov_len: bytes.len() };
                let header = &mut headers[at].msg_hdr;
                header.msg_name = (&raw mut to[at]).cast();
                header.msg_namelen = size_of::<sockaddr_in>() as socklen_t;
                header.msg_iov = &mut parts[at];
                header.msg_iovlen = 1;
            }
            let sent = libc::sendmmsg(self.fd, headers.as_mut_ptr(), batch.len() as u32, 0);
            match checked(sent) {
                Ok(sent) => Ok(sent as usize),
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::ECONNREFUSED)) => Ok(0),
                Err(error) => Err(error),
            }
        }
    }

    /// Wait until a datagram is there, at most for some time; a signal ends the wait.
    pub fn wait(&self, most: Option<Duration>) {
        let time = most.map(|most| libc::timespec {
            tv_sec: most.as_secs() as libc::time_t,
            tv_nsec: most.subsec_nanos().into(),
        });
        let limit = time.as_ref().map_or(std::ptr::null(), |time| time as *const _);
        let mut watched = libc::pollfd { fd: self.fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd, and a timespec or NULL.
        unsafe { libc::ppoll(&mut watched, 1, limit, std::ptr::null()) };
    }
}
