// SPDX-License-Identifier: GPL-2.0-or-later

// Package netaddr stands in for the retired inet.af/netaddr, which not every module proxy serves.
//
// Of containerlab only the template functions net.ParseIP, net.ParseIPPrefix and net.ParseIPRange use it; no
// topology of this lab does.
package netaddr

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// IP is an address.
type IP struct{ netip.Addr }

// IPPrefix is a network.
type IPPrefix struct{ netip.Prefix }

// IPRange is all addresses from one to another.
type IPRange struct{ From, To netip.Addr }

// ParseIP reads an address.
func ParseIP(text string) (IP, error) {
	addr, err := netip.ParseAddr(text)
	return IP{addr}, err
}

// ParseIPPrefix reads address/bits.
func ParseIPPrefix(text string) (IPPrefix, error) {
	prefix, err := netip.ParsePrefix(text)
	return IPPrefix{prefix}, err
}

// ParseIPRange reads from-to.
func ParseIPRange(text string) (IPRange, error) {
	first, last, found := strings.Cut(text, "-")
	if !found {
		return IPRange{}, fmt.Errorf("%q: must be from-to", text)
	}
	from, err := netip.ParseAddr(first)
	if err != nil {
		return IPRange{}, err
	}
	to, err := netip.ParseAddr(last)
	return IPRange{from, to}, err
}

// Masked returns the network with its host bits zero.
func (p IPPrefix) Masked() IPPrefix { return IPPrefix{p.Prefix.Masked()} }

// IPNet words the network for package net.
func (p IPPrefix) IPNet() *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
