// Every named difference between `precise` and `upstream-1.36` in the node lifecycle.
import type { Difference } from './eviction.ts';

export const lifecycleDifferences: readonly Difference[] = [
  {
    name: 'restart-clears-taints',
    upstream:
      'A restart takes both NoExecute taints off every node and puts them on again in turn.',
    precise: 'A restart touches no taint that is as it should be.',
    why: 'tolerationSeconds must not begin anew with every failover.',
    proof: 'testdata/lifecycle/restart.txt',
  },
  {
    name: 'bucket-full-at-start',
    upstream: 'Every start begins with a full bucket for each zone.',
    precise: 'It begins with an empty one.',
    why: 'Restarts must not add up to more than the rate.',
    proof: 'testdata/lifecycle/restart.txt, testdata/lifecycle/full-disruption.txt',
  },
  {
    name: 'registered-again',
    upstream: 'Every start tells of every node that it is registered.',
    precise: 'It is told of nodes that are new.',
    why: 'Five thousand events that mean nothing hide the one that does.',
    proof: 'testdata/lifecycle/restart.txt, testdata/lifecycle/moves.txt',
  },
  {
    name: 'full-disruption-leak',
    upstream:
      'When all zones go down, nodes tainted or changed in that very pass keep their taint.',
    precise: 'While all zones are down no node has it.',
    why: 'Pods would be evicted although everything is to stop.',
    proof: 'testdata/lifecycle/full-disruption.txt',
  },
  {
    name: 'limiter-stays-shut',
    upstream: 'With a rate of exactly 1 a zone that was stopped never goes on.',
    precise: 'It goes on.',
    why: 'A limiter that is shut must not look like one that is open.',
    proof: 'testdata/lifecycle/rate-one.txt',
  },
  {
    name: 'rate-zero-lets-one-through',
    upstream: 'With a rate of 0 one node of each zone is tainted all the same.',
    precise: 'None is.',
    why: 'Zero is zero.',
    proof: 'testdata/lifecycle/rate-zero.txt',
  },
  {
    name: 'wasted-tokens',
    upstream: 'A queued node that is gone, well again or not writable costs its zone a turn.',
    precise: 'A turn is taken by a node that is tainted; a refused one gives it back.',
    why: 'The rate is one of taints, not of attempts.',
    proof: 'testdata/lifecycle/rates.txt, testdata/lifecycle/refused.txt',
  },
  {
    name: 'order-by-chance',
    upstream: 'Waiting nodes are queued anew at every pass, in an order that chance decides.',
    precise: 'They wait in the order in which they stopped being ready.',
    why: 'Nobody starves, and everybody can be told when.',
    proof: 'testdata/lifecycle/rates.txt',
  },
  {
    name: 'tainted-twice',
    upstream: 'A node can be tainted again with a new time, by a stale cache or after a restart.',
    precise: 'A taint that is there is left as it is.',
    why: 'Its time is when the deadlines of its pods began.',
    proof:
      'testdata/lifecycle/restart.txt, ../../k8s-adapter/test/controller/procedures/node-write.test.ts',
  },
  {
    name: 'excluded-only-zone',
    upstream:
      'A zone of excluded nodes alone is forgotten and made anew at every pass, its limit too.',
    precise: 'It is a zone like any other, in state Normal.',
    why: 'Nodes that do not count for the state still count for the rate.',
    proof: 'testdata/lifecycle/excluded.txt',
  },
  {
    name: 'left-in-old-zone',
    upstream: 'A node that moves to another zone may still wait in the old one.',
    precise: 'It waits where it is.',
    why: 'A queue must not hold what nobody will ever take out.',
    proof: 'testdata/lifecycle/moves.txt',
  },
  {
    name: 'pass-races-turns',
    upstream: 'A node may be tainted while the pass that will stop its zone is under way.',
    precise: 'All zones are judged before any node is.',
    why: 'One taint too many is one node too many.',
    proof: 'testdata/lifecycle/at-once.txt',
  },
  {
    name: 'swap-in-two-writes',
    upstream: 'One taint takes the place of another in two writes; between them the node has both.',
    precise: 'In one write.',
    why: 'Half the writes, and no moment that is neither.',
    proof: 'testdata/lifecycle/kubelet-not-ready.txt',
  },
  {
    name: 'no-requeue',
    upstream: 'A failed NoSchedule taint or label waits for the next event of the node.',
    precise: 'It is tried again, with growing waits.',
    why: 'The next event may be minutes away.',
    proof: 'testdata/lifecycle/refused.txt',
  },
  {
    name: 'unreported-untainted',
    upstream: 'The not-ready taint of a new node is taken off before its kubelet has reported.',
    precise: 'It stays until the kubelet reports.',
    why: 'Nothing should be scheduled to a node that has never been heard of.',
    proof: 'testdata/lifecycle/never-reported.txt',
  },
  {
    name: 'unreported-untold',
    upstream: 'A node that never reports goes Unknown without an event, and its pods stay ready.',
    precise: 'It is reported, and its pods are marked like those of any unreachable node.',
    why: 'Whoever looks should find why.',
    proof: 'testdata/lifecycle/never-reported.txt',
  },
  {
    name: 'not-ready-untold',
    upstream:
      'A node whose kubelet says it is not ready gets no event; pods that come to it are marked.',
    precise: 'It is told; its kubelet is alive and answers for its pods.',
    why: 'Two writers of one condition undo each other.',
    proof: 'testdata/lifecycle/kubelet-not-ready.txt',
  },
  {
    name: 'event-before-write',
    upstream: '"Node is not ready" is written for a pod even if it could not be marked.',
    precise: 'It is written once the pod is marked.',
    why: 'An event should be true.',
    proof: 'testdata/lifecycle/refused.txt',
  },
  {
    name: 'lease-memory',
    upstream:
      'A status heartbeat makes the lease forgotten, so that the old one counts once more; a lease without a time blocks later ones, and one set back does not count.',
    precise: 'A sign of life is a time that is another than before.',
    why: 'A kubelet whose clock was set back is alive, and an old lease is not.',
    proof: 'lifecycle/health.test.ts',
  },
  {
    name: 'outage-of-our-own',
    upstream:
      'Time in which the controller itself was cut off or stood still counts against the nodes.',
    precise: 'Only time in which the controller hears of the cluster counts.',
    why: 'Otherwise an outage of the API server taints the whole cluster.',
    proof: 'testdata/lifecycle/view.txt, testdata/lifecycle/standstill.txt',
  },
  {
    name: 'unknown-from-cache',
    upstream: 'Conditions are set to Unknown, and pods marked, on what the cache says.',
    precise:
      'Node and lease are read again first; so is the node before a pod is marked, on an old view.',
    why: 'A heartbeat that is on its way must not cost a node.',
    proof: '../../k8s-adapter/test/controller/procedures/node-write.test.ts',
  },
  {
    name: 'mass-unreachable',
    upstream: 'Many nodes that become unreachable at once are taken for many failures.',
    precise:
      'Where half of all nodes become unreachable within 20 s, new taints wait for a minute. An option.',
    why: 'The controller itself may be cut off.',
    proof: 'testdata/lifecycle/mass-unreachable.txt',
  },
  {
    name: 'readiness-at-once',
    upstream: 'Pods of unreachable nodes are marked not ready at once, even if every zone is down.',
    precise: 'Not while all zones are down or many nodes became unreachable at once. An option.',
    why: 'A cut off control plane must not take every endpoint away.',
    proof: 'testdata/lifecycle/full-disruption.txt, testdata/lifecycle/mass-unreachable.txt',
  },
  {
    name: 'full-disruption-held',
    upstream:
      'A zone that is down as a whole is evicted at full rate, and running deadlines go on.',
    precise: 'The same by default; it can be held, and its deadlines stand still for as long.',
    why: 'A zone that lost its network is not a zone that lost its machines.',
    proof: 'testdata/lifecycle/full-disruption-held.txt',
  },
  {
    name: 'flapping',
    upstream: 'A node that is ready again loses its taint at once, however often it has failed.',
    precise:
      'The same by default; it can have to be well for a while, and longer if it keeps failing.',
    why: 'Evictions that start and stop each minute help nobody.',
    proof: 'testdata/lifecycle/flapping.txt',
  },
  {
    name: 'zone-members',
    upstream: 'Nodes with one fixed label do not count for the state of their zone.',
    precise: 'The same by default; which ones count is a label selector.',
    why: 'Control plane nodes that live hide that all workers are down.',
    proof: 'testdata/lifecycle/selector.txt',
  },
  {
    name: 'readiness-pauses',
    upstream: 'Nodes are tainted and pods marked not ready whatever people are about to do.',
    precise:
      'The same by default; an EvictionPause with `readiness` holds new taints NoExecute for node health, and the marking of pods.',
    why: 'Whoever works on a network knows better than heartbeats what is down.',
    proof: 'testdata/lifecycle/readiness-pauses.txt',
  },
  {
    name: 'condition-rules',
    upstream: 'Five conditions make taints, at once and for all nodes.',
    precise: 'The same; beside them rules for any condition, with durations, limits and a dry run.',
    why: 'Detectors of problems exist; acting on them in order did not.',
    proof: 'testdata/lifecycle/rules.txt',
  },
];
