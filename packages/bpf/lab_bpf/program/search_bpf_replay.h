/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core of the loaded program over a recorded ACK stream, run by BPF_PROG_RUN: the same
 * functions as in search_bpf_acked(), verified by the same kernel.
 */
#ifndef SEARCH_BPF_REPLAY_H
#define SEARCH_BPF_REPLAY_H

#define SEARCH_BPF_BATCH 256

struct search_bpf_input {
	__u64 now_us;
	__u64 delivered_bytes;
	__u64 sent_bytes;
	__s32 rtt_us;		/* 0 or negative: this ACK has no RTT sample */
	__u16 limited;
	__u16 reset;		/* nonzero: reset between the ACK before and this one */
};

/* packages/bpf/lab_bpf/node/replay.py has the same. */
struct search_bpf_batch {
	__u32 acks;
	__u32 starts;		/* nonzero: the first ACK is the first of a stream */
	__u64 before_bytes;	/* delivered by the ACK before the first one */
	struct search_bpf_input input[SEARCH_BPF_BATCH];
	__u32 verdicts[SEARCH_BPF_BATCH];	/* enum search_verdict */
	struct search_decision decisions[SEARCH_BPF_BATCH];	/* where it is not SEARCH_BIN_OPEN */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct search_flow);
} search_replayed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct search_bpf_batch);
} search_batch SEC(".maps");

static long search_replay_ack(__u64 i, void *unused)
{
	__u32 first = 0;
	struct search_flow *flow = bpf_map_lookup_elem(&search_replayed, &first);
	struct search_bpf_batch *batch = bpf_map_lookup_elem(&search_batch, &first);
	struct search_bpf_input *input;
	struct search_ack ack;

	if (!flow || !batch || i >= SEARCH_BPF_BATCH)
		return 1;

	input = &batch->input[i];
	batch->verdicts[i] = SEARCH_BIN_OPEN;
	if (input->reset)
		search_reset(&flow->search, batch->before_bytes);
	batch->before_bytes = input->delivered_bytes;
	if (input->rtt_us <= 0)
		return 0;

	ack = (struct search_ack) {
		.now_us = input->now_us,
		.delivered_bytes = input->delivered_bytes,
		.sent_bytes = input->sent_bytes,
		.rtt_us = input->rtt_us,
		.limited = input->limited,
	};
	batch->verdicts[i] = search_on_ack(&flow->search, &ack, &batch->decisions[i]);
	return 0;
}

SEC("syscall")
int search_replay(void *unused)
{
	__u32 first = 0;
	struct search_flow *flow = bpf_map_lookup_elem(&search_replayed, &first);
	struct search_bpf_batch *batch = bpf_map_lookup_elem(&search_batch, &first);

	if (!flow || !batch)
		return 1;
	if (batch->starts)
		search_setup(&flow->search, &search_bpf_params);
	bpf_loop(batch->acks, search_replay_ack, NULL, 0);
	return 0;
}

#endif /* SEARCH_BPF_REPLAY_H */
