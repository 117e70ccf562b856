// Every named difference between `precise` and `kubelet-1.36` under node pressure.
import type { Difference } from './eviction.ts';

/** `upstream` is what the kubelet 1.36.2 does. A difference without a name here is a bug. */
export const pressureDifferences: readonly Difference[] = [
  {
    name: 'due-by-chance',
    upstream:
      'Of several thresholds that are due any may be acted on, the soft one with its grace.',
    precise: 'Memory before all others, hard before soft, then in the order of the signals.',
    why: 'What is most urgent should not depend on the order of a map.',
    proof: 'testdata/pressure/hard-beats-soft.txt',
  },
  {
    name: 'ties-by-chance',
    upstream: 'Pods that nothing tells apart go in any order.',
    precise: 'They go in the order of their names.',
    why: 'What is explained is what happens.',
    proof: 'pressure/rank.test.ts',
  },
  {
    name: 'unmeasured-first',
    upstream: 'A pod of which nothing was seen goes first.',
    precise: 'It is not evicted.',
    why: 'It may be new, and to evict it may free nothing.',
    proof: 'testdata/pressure/partial.txt',
  },
  {
    name: 'frees-nothing',
    upstream:
      'Pods that use nothing of what is short go too, e.g. for images on a disk of their own.',
    precise: 'They stay.',
    why: 'Their eviction costs and does not help.',
    proof: 'testdata/pressure/partial.txt',
  },
  {
    name: 'inodes-minus-bytes',
    upstream: 'The bytes of local storage a pod asked for are subtracted from its inodes.',
    precise: 'Inodes are compared as they are.',
    why: 'A request for storage would hide any number of inodes.',
    proof: 'pressure/rank.test.ts',
  },
  {
    name: 'pod-level-hides-storage',
    upstream:
      'With resources of the pod as a whole, what its containers ask of local storage is lost.',
    precise: 'It counts: the pod as a whole cannot ask for local storage.',
    why: 'It was asked for.',
    proof: 'pressure/rank.test.ts',
  },
  {
    name: 'terminating-pods',
    upstream: 'Pods on their way out are evicted like any other, and others beside them.',
    precise:
      'Where they free enough they are waited for, also once their status says that they have failed; they are never evicted again.',
    why: 'One pod too many would go.',
    proof: 'testdata/pressure/leaving.txt, testdata/pressure/still-stopping.txt',
  },
  {
    name: 'seen-before-effect',
    upstream: 'Statistics only have to be newer than those seen before.',
    precise:
      'They have to be measured after the pod evicted before was gone, by a clock that may be ahead of ours.',
    why: 'From outside, statistics are some seconds old and would blame the next pod.',
    proof: 'testdata/pressure/one-at-a-time.txt, testdata/pressure/clock-ahead.txt',
  },
  {
    name: 'believes-anything',
    upstream: 'Statistics without time, of any age, and with more available than there is, count.',
    precise: 'They do not, and it is told.',
    why: 'No pod should go on a doubt.',
    proof: 'testdata/pressure/doubts.txt',
  },
  {
    name: 'grace-by-pass',
    upstream: 'Grace periods count between passes of the kubelet.',
    precise: 'They count between the times at which the node measured.',
    why: 'A late answer must not shorten them.',
    proof: 'testdata/pressure/soft.txt',
  },
  {
    name: 'gap-forgets',
    upstream: 'A signal missing once begins its grace period anew.',
    precise:
      'It goes on, unless the signal was not seen for too long: 60 s, or three times as long as usual where the node is asked more seldom and nothing was missing.',
    why: 'One answer that lacks a part says nothing about the node.',
    proof: 'testdata/pressure/doubts.txt, pressure/node-state.test.ts',
  },
  {
    name: 'cleared-unseen',
    upstream: 'A condition goes away when its signal is missing for the transition period.',
    precise: 'It stays until somebody saw that it is over.',
    why: 'Not to see a fire does not put it out.',
    proof: 'testdata/pressure/doubts.txt',
  },
  {
    name: 'restart-clears',
    upstream: 'A restart forgets all conditions.',
    precise: 'A condition that an earlier run wrote lasts for another transition period.',
    why: 'Pods should not be scheduled to a node that evicts them.',
    proof: 'testdata/pressure/conditions.txt',
  },
  {
    name: 'period-zero',
    upstream: 'With a transition period of 0 no condition is ever reported.',
    precise: 'It is, for as long as a threshold is met.',
    why: 'Otherwise the scheduler sends the evicted pods right back.',
    proof: 'testdata/pressure/conditions.txt',
  },
  {
    name: 'layout-once',
    upstream:
      'Which file systems are one is settled once, by their devices; here by the first look.',
    precise:
      'It is judged by every answer that can be believed: by sizes and what is free, to the byte and the inode.',
    why: 'From outside no devices are seen; two disks may be used alike, and one may fill up between two samples.',
    proof: 'testdata/pressure/disks.txt, pressure/observation/filesystems.test.ts',
  },
  {
    name: 'containerfs-late',
    upstream: 'Thresholds of containerfs hold from the second pass on.',
    precise: 'They hold at once.',
    why: 'There is no reason to wait.',
    proof: 'pressure/node-state.test.ts',
  },
  {
    name: 'unrelated-after-reclaim',
    upstream:
      'After images were deleted in vain for one resource, any threshold leads to an eviction.',
    precise: 'The threshold must still be due, by what is seen afterwards.',
    why: 'A pod would go for what is over.',
    proof: 'testdata/pressure/reclaim.txt',
  },
  {
    name: 'failure-counts',
    upstream: 'A pod that could not be killed counts as evicted.',
    precise: 'It is tried again, or passed over for a while where it was refused.',
    why: 'Nothing was freed.',
    proof: 'testdata/pressure/setbacks.txt',
  },
  {
    name: 'grace-below-one',
    upstream: 'Soft evictions give 0 seconds by default, and -1 where the pod should decide.',
    precise: 'A negative maximum is the own time of the pod; less than a second is a second.',
    why: 'Through the API 0 takes the pod away without asking its node, and -1 is refused.',
    proof: 'pressure/semantics.test.ts',
  },
  {
    name: 'blames-innocent',
    upstream: 'A pod that asks for memory as a whole is blamed even where it uses less.',
    precise: 'It is named only where it uses more.',
    why: 'A message should be true.',
    proof: 'pressure/eviction-message.test.ts',
  },
  {
    name: 'missing-bytes-crash',
    upstream: 'A volume without usedBytes and with a limit stops the kubelet.',
    precise: 'It is not known to exceed its limit. The same under kubelet-1.36.',
    why: 'Nobody wants that replayed.',
    proof: 'pressure/local-limits.test.ts',
  },
];
