// SPDX-License-Identifier: GPL-2.0-or-later
// What modules for Linux 4.9 to 6.11 contain and Linux 6.12 does not take; each function has one old hook or name.
#include <linux/module.h>
#include <net/tcp.h>

static void old_pkts_acked(struct sock *sk, u32 packets, s32 rtt_us) { }
static void old_cong_control(struct sock *sk, const struct rate_sample *rs) { }
static void old_cong_avoid(struct sock *sk, u32 ack, u32 acked, u32 in_flight) { }
static u32 old_ssthresh(struct tcp_sock *tp) { return 2; }
static int old_get_info(struct sock *sk, u32 ext, struct sk_buff *skb) { return 0; }
static void old_in_ack_event(struct sock *sk, u32 flags, u32 ack) { }
static void old_set_state(struct sock *sk, int state) { }
static void old_undo(struct sock *sk) { }
static int old_init(struct sock *sk) { return 0; }
static int old_release(struct sock *sk) { return 0; }
static u32 old_sndbuf(struct tcp_sock *tp) { return 2; }
static u32 old_min_tso(struct sock *sk, unsigned int mss) { return 2; }
static void old_cwnd_event(struct sock *sk, int event, int more) { }

static struct tcp_congestion_ops old __read_mostly = {
	.pkts_acked = old_pkts_acked,
	.cong_control = old_cong_control,
	.cong_avoid = old_cong_avoid,
	.ssthresh = old_ssthresh,
	.get_info = old_get_info,
	.in_ack_event = old_in_ack_event,
	.set_state = old_set_state,
	.undo_cwnd = old_undo,
	.init = old_init,
	.release = old_release,
	.sndbuf_expand = old_sndbuf,
	.min_tso_segs = old_min_tso,
	.cwnd_event = old_cwnd_event,
	.tso_segs_goal = NULL,
	.tso_segs = NULL,
	.skb_marked_lost = NULL,
	.min_cwnd = NULL,
	.rtt_sample = NULL,
	.flags = TCP_CONG_RTT_STAMP,
	.owner = THIS_MODULE,
	.name = "old_names",
};

static u32 old_time_stamp(void) { return tcp_time_stamp; }
static u32 old_time_stamp_of(struct tcp_sock *tp) { return tcp_time_stamp(tp); }
static u32 old_time_stamp_raw(void) { return tcp_time_stamp_raw(); }
static void old_stats(struct sock *sk) { NET_INC_STATS_BH(sock_net(sk), LINUX_MIB_TCPHYSTARTTRAINDETECT); }
static void old_add_stats(struct sock *sk) { NET_ADD_STATS_BH(sock_net(sk), LINUX_MIB_TCPHYSTARTTRAINCWND, 1); }
static void old_tcp_stats(struct sock *sk) { TCP_INC_STATS_BH(sock_net(sk), 1); }
static void old_mstamp(void) { struct skb_mstamp now; skb_mstamp_get(&now); }
static u32 old_mstamp_delta(struct tcp_sock *tp) { return skb_mstamp_us_delta(&tp->tcp_mstamp, &tp->tcp_mstamp); }
static u64 old_v64(struct tcp_sock *tp) { return tp->tcp_mstamp.v64; }
static u32 old_stamp_us(struct tcp_sock *tp) { return tp->delivered_mstamp.stamp_us; }
static u64 old_skb_mstamp(struct sk_buff *skb) { return skb->skb_mstamp; }
static u32 old_skb_timestamp(struct sk_buff *skb) { return tcp_skb_timestamp(skb); }
static u32 old_min_rtt(struct tcp_sock *tp) { return tp->rtt_min[0].rtt; }
static u32 old_srtt(struct tcp_sock *tp) { return tp->srtt; }
static u32 old_mdev(struct tcp_sock *tp) { return tp->mdev; }
static void old_slow_start(struct tcp_sock *tp) { tcp_slow_start(tp); }
static void old_ai(struct tcp_sock *tp) { tcp_cong_avoid_ai(tp, 1); }
static bool old_limited(struct sock *sk) { return tcp_is_cwnd_limited(sk, 1); }
static void old_may_raise(struct sock *sk) { tcp_reno_cong_avoid(sk, 1, 1, 1); }
static u32 old_prandom(void) { return prandom_u32(); }
static u32 old_prandom_max(void) { return prandom_u32_max(5); }
static u32 old_random_int(void) { return get_random_int(); }
static u32 old_net_random(void) { return net_random(); }
static u32 old_random32(void) { return random32(); }
static u32 old_access(u32 *value) { return ACCESS_ONCE(*value); }
static void old_timeval(void) { struct timeval tv; do_gettimeofday(&tv); }
static void old_timespec(void) { struct timespec ts; getnstimeofday(&ts); }
static s64 old_tv64(ktime_t now) { return now.tv64; }
static void old_expired(unsigned long data) { }
static void old_setup_timer(struct timer_list *timer) { setup_timer(timer, old_expired, 0); }
static void old_init_timer(struct timer_list *timer) { init_timer(timer); timer->data = 0; }
static void old_event(struct sock *sk) { u32 a = CA_EVENT_DELAYED_ACK, b = CA_EVENT_NON_DELAYED_ACK, c = CA_EVENT_FAST_ACK; }
static struct tcp_sock *old_const(const struct sock *sk) { struct tcp_sock *tp = tcp_sk(sk); return tp; }
static u32 old_sample_field(const struct ack_sample *sample) { return sample->last_in_flight; }
static s32 old_rs_field(const struct rate_sample *rs) { return rs->lost_in_round; }
static void old_strlcpy(char *to) { strlcpy(to, "x", 2); }
static void *old_pde(struct inode *inode) { return PDE_DATA(inode); }
static void old_pacing(struct sock *sk) { printk("%u\n", sk->sk_pacing_rate); }
static u32 old_tx(struct sk_buff *skb) { return TCP_SKB_CB(skb)->tx.in_flight; }
static u32 old_cwnd_min(struct sock *sk) { return sysctl_tcp_reordering; }
static u32 old_wmem(struct sock *sk) { return sysctl_tcp_wmem[2]; }
static u32 old_rcv(struct tcp_sock *tp) { return tp->rcv_rtt_est.rtt; }
static u32 old_fackets(struct tcp_sock *tp) { return tp->fackets_out; }
static u32 old_fack(struct tcp_sock *tp) { return tcp_is_fack(tp); }
static u32 old_ca_priv(struct sock *sk) { return inet_csk(sk)->icsk_ca_priv_size; }
static void old_kill(struct timer_list *timer) { struct jprobe probe; register_jprobe(&probe); }
MODULE_SUPPORTED_DEVICE("old");

static int __init old_register(void)
{
	BUILD_BUG_ON(sizeof(struct tcp_sock) > ICSK_CA_PRIV_SIZE);
	return register_kfunc_btf_id_set(NULL, NULL) + tcp_register_congestion_control(&old);
}

static void __exit old_unregister(void)
{
	tcp_unregister_congestion_control(&old);
}

module_init(old_register);
module_exit(old_unregister);
MODULE_LICENSE("GPL");
#include <linux/btf.h>
static u32 old_autosize(struct sock *sk, struct tcp_sock *tp) { return tcp_tso_autosize(sk, tp->mss_cache, 4); }
static void old_set_fs(void) { set_fs(get_ds()); }
static void old_queue(struct sock *sk, struct sk_buff *skb) { tcp_for_write_queue(skb, sk); }
static const struct btf_kfunc_id_set old_set = { .owner = THIS_MODULE, .check_set = NULL };
