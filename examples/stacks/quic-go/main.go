// SPDX-License-Identifier: GPL-2.0-or-later

// Both ends of a download over quic-go: a client requests a number of bytes on one stream, a server sends them.
package main

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
)

const (
	protocol    = "lab"
	windowBytes = 1 << 30
	pieceBytes  = 1 << 16
	mostBytes   = 1452 // of a datagram, that quic-go takes
)

func settings(datagramBytes uint16) *quic.Config {
	return &quic.Config{
		InitialStreamReceiveWindow:     windowBytes,
		MaxStreamReceiveWindow:         windowBytes,
		InitialConnectionReceiveWindow: windowBytes,
		MaxConnectionReceiveWindow:     windowBytes,
		InitialPacketSize:              min(datagramBytes, mostBytes),
		DisablePathMTUDiscovery:        true,
		Tracer:                         qlog.DefaultConnectionTracer, // in QLOGDIR
	}
}

func serve(address string, datagramBytes uint16, certificate, key string) error {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	security := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{protocol}}
	listener, err := quic.ListenAddr(address, security, settings(datagramBytes))
	if err != nil {
		return err
	}
	connection, err := listener.Accept(context.Background())
	if err != nil {
		return err
	}
	stream, err := connection.AcceptStream(context.Background())
	if err != nil {
		return err
	}
	var left int64
	if err := binary.Read(stream, binary.BigEndian, &left); err != nil {
		return err
	}
	piece := make([]byte, pieceBytes)
	for left > 0 {
		count, err := stream.Write(piece[:min(left, pieceBytes)])
		if err != nil {
			return err
		}
		left -= int64(count)
	}
	if err := stream.Close(); err != nil {
		return err
	}
	<-connection.Context().Done()
	return nil
}

func get(address string, datagramBytes uint16, size int64) error {
	security := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}
	connection, err := quic.DialAddr(context.Background(), address, security, settings(datagramBytes))
	if err != nil {
		return err
	}
	stream, err := connection.OpenStreamSync(context.Background())
	if err != nil {
		return err
	}
	if err := binary.Write(stream, binary.BigEndian, size); err != nil {
		return err
	}
	count, err := io.Copy(io.Discard, stream)
	if err == nil && count != size {
		err = fmt.Errorf("%d bytes of %d", count, size)
	}
	connection.CloseWithError(0, "")
	return err
}

func run(words []string) error {
	datagramBytes, err := strconv.ParseUint(words[2], 10, 16)
	if err != nil {
		return err
	}
	if words[0] == "serve" {
		return serve(words[1], uint16(datagramBytes), words[3], words[4])
	}
	size, err := strconv.ParseInt(words[3], 10, 64)
	if err != nil {
		return err
	}
	return get(words[1], uint16(datagramBytes), size)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
