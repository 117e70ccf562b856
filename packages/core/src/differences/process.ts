// Named differences from kube-controller-manager that hold in both semantics: requests, Events, the process.
import type { Difference } from './eviction.ts';

/** `precise` says what both semantics do: they are about how a decision is carried out, not about it. */
export const processDifferences: readonly Difference[] = [
  {
    name: 'event-source',
    upstream: 'Events come from `taint-eviction-controller` and `node-controller`.',
    precise: 'They come from `taintmgr`.',
    why: 'Whoever reads an Event should see which program wrote it; two may run.',
    proof: '../../k8s-adapter/test/controller/procedures/upstream-requests.test.ts',
  },
  {
    name: 'workers',
    upstream: 'Eight workers with channels of ten nodes and one pod share the work by node name.',
    precise:
      'One thread decides; the order in which workers would come to pods that are due at once is not modelled.',
    why: 'That order is left to chance, and nothing is decided by it.',
    proof: 'testdata/eviction/limit.txt',
  },
  {
    name: 'read-before-condition',
    upstream:
      'Before a deletion the pod is read, and the patch of its status names the uid that was read.',
    precise:
      'taintmgr sends the uid of its decision and reads nothing, but on an old view; with `--semantics=upstream-1.36` it sends the patch by name alone.',
    why: 'One request less for each eviction; a uid that is wrong is refused.',
    proof: '../../k8s-adapter/test/controller/procedures/upstream-requests.test.ts',
  },
  {
    name: 'disruption-target-time',
    upstream: 'Where DisruptionTarget is True already its lastTransitionTime stays.',
    precise: 'The patch gives it the time of this eviction.',
    why: 'Keeping it would take a read of the pod; the time then says when it was decided last.',
    proof: '../../k8s-adapter/test/controller/procedures/upstream-requests.test.ts',
  },
  {
    name: 'own-mark',
    upstream:
      'DisruptionTarget has the message `Taint manager: deleting due to NoExecute taint`; a pod that has the condition so already is deleted without a patch.',
    precise:
      'The same message, but with `--takeover`: there it is `taintmgr: deleting due to NoExecute taint`.',
    why: 'kube-controller-manager is refused its patch, and has to need one.',
    proof: '../../k8s-adapter/test/controller/procedures/pod-removal.test.ts',
  },
  {
    name: 'mark-refused',
    upstream:
      'A pod that may not be marked with DisruptionTarget is not deleted; that is one try of five.',
    precise:
      'taintmgr deletes it without the condition, and says so. With `--semantics=upstream-1.36` it does as kube-controller-manager.',
    why: 'The condition tells others why a pod goes; that it cannot be written is no reason to keep the pod.',
    proof: '../../k8s-adapter/test/controller/procedures/pod-removal.test.ts',
  },
  {
    name: 'silent-after-not-ready',
    upstream:
      'A node whose kubelet said NotReady and then falls silent gets no further Event, and its pods are not marked again.',
    precise:
      'taintmgr writes NodeNotReady once more and marks the pods: now nobody answers for them. With `--semantics=upstream-1.36` it does as kube-controller-manager.',
    why: 'Until then the kubelet was alive and answered for its pods (`not-ready-untold`).',
    proof: 'testdata/lifecycle/kubelet-not-ready.txt',
  },
  {
    name: 'event-without-version',
    upstream: 'NodeNotReady Events on pods carry involvedObject.resourceVersion.',
    precise: 'They do not.',
    why: 'Equal Events are counted in one object; a version that changes would part them.',
    proof: '../../k8s-adapter/test/controller/procedures/upstream-requests.test.ts',
  },
  {
    name: 'lease-released',
    upstream:
      'The lease is left to run out at SIGTERM, and a process that has lost its lease exits.',
    precise: 'The lease is given back at SIGTERM; a replica that has lost it stands by.',
    why: 'The next leader begins within a second instead of fifteen, and a restart costs its caches.',
    proof:
      '../../k8s-adapter/test/testdata/controller/election/released.txt, ../../k8s-adapter/test/testdata/controller/election/standby.txt',
  },
];
