// docs/reference/events.md and conditions.md: what we write into a cluster for people to read.
import { code, page, table } from './page.ts';

/** The page of Events. */
export function eventsPage(): string {
  const rows = events.map(({ reason, type, about, by, what }) => [
    code(reason),
    type,
    about,
    by,
    what,
  ]);
  return page(
    'Events',
    'What the controller records: `kubectl get events -A --field-selector reason=REASON`, or at the end of `kubectl describe`. The API server keeps an Event for an hour. Equal ones are one Event with a count; `taintmgr_events_total{result="lost"}` counts those that were not written. The plugin writes none.',
    table(['reason', 'type', 'about', 'from', 'what it says'], rows),
  );
}

/** The page of conditions. */
export function conditionsPage(): string {
  const rows = conditions.map(({ on, type, reasons, what }) => [
    on,
    type.split(', ').map(code).join(', '),
    reasons.map(code).join(', '),
    what,
  ]);
  const holds = drainHolds.map(({ reason, what }) => [code(reason), what]);
  return page(
    'Conditions',
    'What the controller writes into `status.conditions`. `kubectl wait --for=condition=TYPE KIND/NAME` waits for one.',
    table(['of', 'type', 'reasons', 'what it says'], rows),
    `## Why a node of a NodeDrain waits\n\n\`status.nodes[].reason\`, with more in \`message\`:\n\n${table(['reason', 'what it means'], holds)}`,
  );
}

// The Events and conditions that we write, by their reasons: data of the reference. A test finds each reason
// and each type of a condition that stands in the source, and wants it here.
interface EventRow {
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  /** The kind of the object that it is about. */
  readonly about: string;
  readonly by: string;
  readonly what: string;
}

const eviction = 'taint-eviction-controller';
const lifecycle = 'node-lifecycle-controller';
const pressure = 'node-pressure-controller';

const pressureEvent = (reason: string, what: string): EventRow => {
  return { reason, type: 'Normal', about: 'Node', by: pressure, what };
};

/** In the order of the page. */
export const events: readonly EventRow[] = [
  {
    reason: 'TaintManagerEviction',
    type: 'Normal',
    about: 'Pod',
    by: eviction,
    what: 'The pod is being evicted for a taint, and why; or its eviction was cancelled. As of kube-controller-manager, with the reason added.',
  },
  {
    reason: 'EvictionIntercepted',
    type: 'Warning',
    about: 'Pod',
    by: eviction,
    what: 'An admission webhook keeps the eviction for itself, with its words: another program may move the pod; or a ValidatingAdmissionPolicy refuses the eviction. Again every 5 minutes while it lasts.',
  },
  {
    reason: 'TaintManagerEvictionHeld',
    type: 'Normal',
    about: 'Pod',
    by: `${eviction} with --takeover`,
    what: 'kube-controller-manager would have deleted the pod, and was refused: who decides, why the pod stays and until when.',
  },
  {
    reason: 'NodeDeadline',
    type: 'Warning',
    about: 'Pod',
    by: eviction,
    what: 'The pod is evicted faster, or although budgets refuse: `taintmgr.dev/deadline` says when its node ends.',
  },
  {
    reason: 'EvictedByOther',
    type: 'Warning',
    about: 'Pod',
    by: eviction,
    what: 'Another program has marked the pod for deletion by a taint manager.',
  },
  {
    reason: 'LimitTripped',
    type: 'Warning',
    about: 'Lease',
    by: eviction,
    what: 'A limit has tripped: its pods stay until you resume it.',
  },
  {
    reason: 'LimitResumed',
    type: 'Normal',
    about: 'Lease',
    by: eviction,
    what: 'A tripped limit was resumed.',
  },
  {
    reason: 'VolumesNotDetached',
    type: 'Warning',
    about: 'Pod',
    by: 'node-drain-controller',
    what: 'The wait for volumes has timed out: the next pod of the StatefulSet is evicted although they are not detached.',
  },
  {
    reason: 'EvictionRequested',
    type: 'Normal',
    about: 'Pod',
    by: eviction,
    what: 'By a policy with action Request, the controller registered for the pod is asked to move it.',
  },
  {
    reason: 'EvictionRequestGivenUp',
    type: 'Warning',
    about: 'Pod',
    by: `${eviction}, node-drain-controller`,
    what: 'An EvictionRequest for the pod led to nothing: it is evicted through the Eviction API.',
  },
  {
    reason: 'RegisteredNode',
    type: 'Normal',
    about: 'Node',
    by: lifecycle,
    what: 'The controller follows the node from now on.',
  },
  {
    reason: 'RemovingNode',
    type: 'Normal',
    about: 'Node',
    by: lifecycle,
    what: 'The node is gone.',
  },
  {
    reason: 'NodeNotReady',
    type: 'Normal',
    about: 'Node',
    by: lifecycle,
    what: 'The node is not ready. For each of its pods the same as a Warning.',
  },
  {
    reason: 'DeletingAllPods',
    type: 'Normal',
    about: 'Node',
    by: `${lifecycle}, legacy mode`,
    what: 'The pods of a node that is lost are being deleted.',
  },
  {
    reason: 'NodeControllerEviction',
    type: 'Normal',
    about: 'Pod',
    by: `${lifecycle}, legacy mode`,
    what: 'The pod is evicted because its node is lost.',
  },
  {
    reason: 'Evicted',
    type: 'Warning',
    about: 'Pod',
    by: pressure,
    what: 'The pod was evicted because its node ran out of a resource, and how much it used.',
  },
  {
    reason: 'EvictionThresholdMet',
    type: 'Warning',
    about: 'Node',
    by: pressure,
    what: 'A threshold is met: pods may be evicted.',
  },
  pressureEvent('NodeHasInsufficientMemory', 'Memory pressure begins.'),
  pressureEvent('NodeHasSufficientMemory', 'Memory pressure ends.'),
  pressureEvent('NodeHasDiskPressure', 'Disk pressure begins.'),
  pressureEvent('NodeHasNoDiskPressure', 'Disk pressure ends.'),
  pressureEvent('NodeHasInsufficientPID', 'Pressure on process ids begins.'),
  pressureEvent('NodeHasSufficientPID', 'Pressure on process ids ends.'),
  {
    reason: 'LeaderElection',
    type: 'Normal',
    about: 'Lease',
    by: 'the controller',
    what: 'A replica became leader, or stopped leading.',
  },
  {
    reason: 'ControllersOverlap',
    type: 'Warning',
    about: 'Lease',
    by: 'the controller',
    what: 'Another program does the same work, or may: what was done about it.',
  },
  {
    reason: 'ClockStepped',
    type: 'Warning',
    about: 'Lease',
    by: 'the controller',
    what: 'The clock of its machine was set, or the machine was suspended. Deadlines do not depend on it.',
  },
  {
    reason: 'ClockSkew',
    type: 'Warning',
    about: 'Lease',
    by: 'the controller',
    what: "The API server's clock is ahead of the machine's, or behind it, by more than before.",
  },
  {
    reason: 'TakeoverPolicyChanged',
    type: 'Warning',
    about: 'ValidatingAdmissionPolicy or its binding',
    by: 'the controller with --takeover',
    what: 'An object of takeover was missing or changed, and what was done about it.',
  },
];

interface ConditionRow {
  readonly on: string;
  readonly type: string;
  readonly reasons: readonly string[];
  readonly what: string;
}

const holds = 'Present only while true: ';
const drainPhases = [
  'Pending',
  'Running',
  'Blocked',
  'Paused',
  'Drained',
  'Failed',
  'TimedOut',
  'Undoing',
] as const;

/** In the order of the page. */
export const conditions: readonly ConditionRow[] = [
  {
    on: 'TaintManager',
    type: 'Leading',
    reasons: ['Leads', 'Resigned'],
    what: 'True: the replica that wrote it leads. False: it stopped, and gave the lease back.',
  },
  {
    on: 'TaintManager',
    type: 'DryRun',
    reasons: ['NothingIsChanged'],
    what: `${holds}nothing is changed, and evictions of other programs are compared with its decisions.`,
  },
  {
    on: 'TaintManager',
    type: 'StandingBack',
    reasons: ['ControllersOverlap'],
    what: `${holds}another program does the same work, so the leader stands by.`,
  },
  {
    on: 'TaintManager',
    type: 'EvictedByOther',
    reasons: ['OneNode', 'SeveralNodes'],
    what: `${holds}pods are marked for deletion by another taint manager. Marks on one node prove nothing, as its kubelet can write them too.`,
  },
  {
    on: 'TaintManager',
    type: 'Truncated',
    reasons: ['TooMany'],
    what: `${holds}the status has no room for all entries of its lists.`,
  },
  {
    on: 'TaintManager',
    type: 'CacheStale',
    reasons: ['WatchInterrupted'],
    what: `${holds}changes of the cluster do not arrive; pods are read again before they are evicted.`,
  },
  {
    on: 'TaintManager',
    type: 'LastReplica',
    reasons: ['NoOtherReplicaReady'],
    what: `${holds}a replica of the controller that is due stays on its node, because no other replica is ready.`,
  },
  {
    on: 'TaintManager',
    type: 'ClockHeld',
    reasons: ['ClockUnknown'],
    what: `${holds}the time of the cluster is unknown; deadlines are held.`,
  },
  {
    on: 'TaintManager',
    type: 'ClockSkew',
    reasons: ['ServerClockAhead', 'ServerClockBehind'],
    what: `${holds}the API server's clock and that of the replica differ by 2 s or more.`,
  },
  {
    on: 'EvictionPolicy',
    type: 'InForce',
    reasons: ['Forbidden'],
    what: 'False: its pods wait, because the controller lacks a right that its `action` needs; the message names the right and the component that grants it.',
  },
  {
    on: 'EvictionPolicy, NodeTaintRule',
    type: 'InForce',
    reasons: ['Followed', 'FileCounts', 'CannotBeFollowed', 'ControllerDisabled'],
    what: 'True: the controller follows it. False: a file of `--policy` has one with the same name, the object is invalid, or its controller does not run.',
  },
  {
    on: 'EvictionPause',
    type: 'InForce',
    reasons: ['Holds', 'Over', 'FileCounts', 'CannotBeFollowed', 'ControllerDisabled'],
    what: 'True: it holds evictions. False: it has ended, or the controller does not follow it.',
  },
  {
    on: 'EvictionPolicy',
    type: 'LimitTripped',
    reasons: ['Tripped'],
    what: `${holds}a limit of the policy has tripped; the message has the command that resumes it.`,
  },
  {
    on: 'NodeTaintRule',
    type: 'LimitReached',
    reasons: ['MaxNodes'],
    what: `${holds}more nodes would get the taint if \`maxNodes\` let them.`,
  },
  {
    on: 'NodeDrain',
    type: 'Drained',
    reasons: [...drainPhases, 'PodsStay'],
    what: 'True: every node is drained. False, `PodsStay`: every node is drained, and the pods named in the message stay there. Otherwise False: the reason is the phase, the message says what blocks the drain.',
  },
  {
    on: 'NodeDrain',
    type: 'InForce',
    reasons: ['FileCounts', 'CannotBeFollowed', 'ControllerDisabled'],
    what: 'False: the controller ignores it, for the given reason.',
  },
  {
    on: 'Node',
    type: 'MaintenancePlanned, DrainInProgress, Drained',
    reasons: ['NodeDrain'],
    what: 'Of a node of a NodeDrain with `nodeConditions: Publish`, as KEP-5683 has them.',
  },
  {
    on: 'Node',
    type: 'Ready, MemoryPressure, DiskPressure, PIDPressure',
    reasons: ['NodeStatusUnknown', 'NodeStatusNeverUpdated'],
    what: 'Unknown: the node does not report. As kube-controller-manager writes them.',
  },
  {
    on: 'Node',
    type: 'taintmgr.dev/MemoryPressure',
    reasons: ['KubeletHasInsufficientMemory', 'KubeletHasSufficientMemory'],
    what: 'Of node-pressure-controller. Reasons are those of a kubelet, which overwrites changes to its own conditions.',
  },
  {
    on: 'Node',
    type: 'taintmgr.dev/DiskPressure',
    reasons: ['KubeletHasDiskPressure', 'KubeletHasNoDiskPressure'],
    what: 'The same for disk and inodes.',
  },
  {
    on: 'Node',
    type: 'taintmgr.dev/PIDPressure',
    reasons: ['KubeletHasInsufficientPID', 'KubeletHasSufficientPID'],
    what: 'The same for process ids.',
  },
  {
    on: 'Pod',
    type: 'DisruptionTarget',
    reasons: ['DeletionByTaintManager', 'DeletionByDeviceTaintManager', 'TerminationByKubelet'],
    what: 'The pod was deleted for a taint of its node, or of a device; or its node ran out of a resource.',
  },
  {
    on: 'Pod',
    type: 'Ready',
    reasons: [],
    what: 'False: its node is not ready. Reason and message stay as they were.',
  },
];

interface HoldRow {
  readonly reason: string;
  readonly what: string;
}

/** Why a node of a NodeDrain waits or has failed: `status.nodes[].reason`. */
export const drainHolds: readonly HoldRow[] = [
  {
    reason: 'AnotherDrain',
    what: 'Another drain works on the node, or another program says so.',
  },
  { reason: 'NodePaused', what: 'A label or an annotation of the node keeps drains from it.' },
  { reason: 'PodsRefused', what: 'The spec of the drain does not let one of its pods leave.' },
  {
    reason: 'NotGuarded',
    what: 'The finalizer that keeps the drain until it is undone could not be set yet.',
  },
  {
    reason: 'OtherEvictors',
    what: 'The drain has the effect NoExecute, and another controller evicts for it, or may.',
  },
  { reason: 'TooManyNodes', what: 'The drain has more than 1,000 nodes.' },
  { reason: 'NotCordoned', what: 'Another node of its batch must be cordoned first.' },
  { reason: 'OutsideWindow', what: 'No window of the drain is open.' },
  { reason: 'GateClosed', what: 'A gate of the drain is closed.' },
  { reason: 'RollingBack', what: 'What an earlier try has set on it is undone first.' },
  { reason: 'NodeShutdown', what: 'The node shuts down, and its kubelet ends its pods.' },
  { reason: 'PodsNotRead', what: 'Its pods are not read yet.' },
];
