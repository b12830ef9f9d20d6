// SPDX-License-Identifier: GPL-2.0-or-later

// Command containerlab is containerlab itself, built from its Go module where its releases cannot be fetched.
package main

import "github.com/srl-labs/containerlab/cmd"

func main() {
	cmd.Execute()
}
