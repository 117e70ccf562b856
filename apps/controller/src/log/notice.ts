import {
  type Blocker,
  describeReason,
  type LimitReport,
  type Outcome,
  type PodReport,
  type Reason,
  type Report,
} from '@taintmgr/core';
import { describeCount, limitId, resumeCommand } from '@taintmgr/core/policy';
import { formatDeadline, formatDuration, formatTime, type Millis } from '@taintmgr/core/time';
import { type ClusterEvent, describeClock, driftText, type Notice } from '@taintmgr/k8s-adapter';
import { deniedToDrainLine, drainLine, requestLine } from './drain.ts';
import { lifecycleLine, nodeWriteLine } from './lifecycle.ts';
import {
  errorOf,
  type Fields,
  formatWait,
  type Line,
  line,
  type NamedPod,
  podFields,
  subjectFields,
} from './line.ts';

/** Log lines about notices of the loop. `now` is for times given as a wait. */
export function lineOf(notice: Notice, now: number): Line {
  const ofKind = lines[notice.kind] as (notice: Notice, now: number) => Line;
  return ofKind(notice, now);
}

type NoticeOf<Kind extends Notice['kind']> = Extract<Notice, { kind: Kind }>;

/** The line about each kind of notice. */
const lines: {
  readonly [Kind in Notice['kind']]: (notice: NoticeOf<Kind>, now: number) => Line;
} = {
  listed: ({ resource, objects, upserts, deletes, ...read }) =>
    line('info', `listed ${resource}`, { ...ofNode(read), objects, upserts, deletes }),
  watching: ({ resource, resourceVersion: from, ...read }) =>
    line('debug', `watching ${resource}`, { ...ofNode(read), from }),
  absent: ({ resource, failure: { status, message: error } }) =>
    status === 403
      ? line('warn', `cannot read ${resource}, continuing without them`, { error })
      : line('debug', `the cluster has no ${resource}: their kind is not installed`, {}),
  unreadable: ({ object, faults, holds, next }) => {
    const what = `${object} cannot be followed, ${whatHolds[holds]}`;
    return line('warn', what, { error: faults.join('; '), ...(next !== '' && { next }) });
  },
  pagedLists: () =>
    line('info', 'the API server does not stream lists: they are read in pages', {}),
  jsonOnly: ({ resource }) =>
    line('info', `the API server has no protobuf for ${resource}: they are read in JSON`, {}),
  reconnecting: ({ resource, failure: { message: error }, wait: waitMs, next, ...read }) => {
    const [node, wait] = [ofNode(read), formatWait(waitMs)];
    // As each API server answers for a second or two after a definition was installed.
    if (/storage is \(re\)initializing/.test(error)) {
      const what = `the API server begins to serve ${resource}, will ask again`;
      return line('info', what, { ...node, wait });
    }
    return line('warn', `reading ${resource} failed, reconnecting`, { ...node, error, wait, next });
  },
  podScope: ({ scope, nodes, pods }) => {
    const which = scope === 'all' ? 'all pods' : 'the pods of tainted nodes only';
    return line('info', `reading ${which}`, { nodes, ...(pods !== null && { pods }) });
  },

  leaderElected: ({ identity }) => line('info', 'leader elected', { leader: identity }),
  elected: ({ held }) =>
    line('info', held ? 'became the leader' : 'no longer the leader, standing by', {}),
  leadershipLost: ({ why: error }) => line('warn', 'leadership lost', { error }),
  electionFailing: ({ failure: { message: error } }) =>
    line('warn', 'leader election fails', { error }),
  clockStepped: clockLine,
  serverClockMoved: clockLine,
  synced: () => line('info', 'caches synced, evictions start', {}),

  report: ({ report }, now) => reportLine(report, now),
  commandSent: ({ command: { pod, because } }) =>
    line('info', 'evicting', { ...podFields(pod), uid: pod.uid, ...why(because) }),
  commandFinished: (notice) => deniedToDrainLine(notice) ?? evictedLine(notice.command.pod, notice),
  markRefused: ({ command: { pod }, message: error }) =>
    line('warn', 'evicting without the condition DisruptionTarget', { ...podFields(pod), error }),
  podUnmarked: unmarkedLine,
  evictionRequests: requestLine,
  evictionRequestWritten: requestLine,
  drainWriteFinished: drainLine,
  nodeWriteFinished: nodeWriteLine,
  taintStartsKept: ({ command: { nodeName: node }, outcome }) =>
    outcome.kind === 'done'
      ? line('debug', 'recorded when taints were first seen', { node })
      : line('warn', 'could not record when taints were first seen', {
          node,
          error: errorOf(outcome),
        }),

  limitRecord: ({ record }) =>
    line('debug', 'read limit counts', { limits: Object.keys(record ?? {}).length }),
  limitRecordWritten: () => line('debug', 'stored limit counts', {}),
  limitRecordFailed: ({ command, lease, outcome }) => {
    const what = command.kind === 'readLimits' ? 'read' : 'store';
    const fields = { lease, error: errorOf(outcome) };
    if (command.tidies) return line('debug', `could not ${what} what limits have left`, fields);
    const text = `could not ${what} limit counts: pods under limits are not evicted until then`;
    return line(outcome.kind === 'changed' ? 'debug' : 'warn', text, fields);
  },

  takeoverDrift: ({ object, drift }) =>
    line('warn', 'an object of takeover was changed, repairing it', {
      object,
      drift: driftText(drift),
    }),
  takeoverMended: ({ object, isNew, left }) => {
    if (left.length > 0) {
      const fields = { object, drift: driftText(left) };
      return line('warn', 'an object of takeover is missing or changed', fields);
    }
    return line('info', isNew ? 'installed an object of takeover' : 'mended it', { object });
  },
  takeoverContested: ({ object, drift }) => {
    const text = 'an object of takeover was changed again and again: it is no longer repaired';
    return line('warn', text, { object, drift: driftText(drift) });
  },
  takeoverInForce: ({ isInForce }) =>
    isInForce
      ? line('info', 'the policies of takeover are in force', {})
      : line('warn', 'the policies of takeover are not in force', {}),
  takeoverFault: ({ object, failure: { message: error } }) =>
    line('warn', 'could not check the policies of takeover', { object, error }),

  statusPublished: ({ name }) => line('info', 'publishing status', { taintManager: name }),
  statusNotPublished: unpublishedLine,
  policiesPublished: ({ resource }) =>
    line('info', 'publishing the status of policies again', { resource }),
  policiesNotPublished: ({ resource, failure: { message: error }, why }) => {
    const again = why === 'failed' ? 'in a few seconds' : 'once a minute';
    return line('warn', 'the status of policies is not published', { resource, error, again });
  },

  historyKept: ({ departures: evictions, notBelieved }) => {
    const said = 'keeps the history of evictions';
    if (notBelieved.length === 0) return line('info', said, { evictions });
    const without = `${said}, without objects that no leader has written so`;
    return line('warn', without, { evictions, object: notBelieved.join(', ') });
  },
  historyNotKept: ({ object, failure: { message: error } }) =>
    line('warn', 'the history of evictions is kept in memory only', { object, error }),

  eventRecorded: ({ event, count }) => {
    const again = count > 1 ? { count } : {};
    return line('debug', 'recorded event', { ...eventFields(event), ...again });
  },
  eventLost: ({ event, failure, why }) => {
    const error = failure?.message ?? lostTexts[why];
    return line('warn', 'lost event', { ...eventFields(event), error });
  },
  eventsDropped: ({ count: events, why }) =>
    line('warn', 'dropped events', { events, why: droppedTexts[why] }),
};

function clockLine(notice: NoticeOf<'clockStepped' | 'serverClockMoved'>): Line {
  return line('warn', describeClock(notice), {});
}

function reportLine(report: Report, now: number): Line {
  switch (report.kind) {
    case 'deadline':
      return deadlineLine(report, now);
    case 'retry':
      return retryLine(report, now);
    case 'queued':
      return heldLine(report, now);
    case 'limitTripped':
      return limitTrippedLine(report);
    case 'limitResumed': {
      const { limit, by } = report;
      return line('info', 'limit is open again', { limit: limitId(limit), by });
    }
    default:
      return lifecycleLine(report, now);
  }
}

/** The line about what became of an eviction; failures are reported. */
export function evictedLine(
  pod: NamedPod,
  { outcome, took }: { readonly outcome: Outcome; readonly took: Millis },
): Line {
  const fields = { ...podFields(pod), took: `${Math.round(took)}ms` };
  if (outcome.kind === 'done') return line('info', 'evicted', fields);
  if (outcome.kind === 'gone') return line('info', 'already gone', fields);
  return line('debug', `eviction ${outcome.kind}`, { ...fields, error: outcome.message });
}

type ReportOf<Kind extends Report['kind']> = Extract<Report, { kind: Kind }>;

function deadlineLine(report: ReportOf<'deadline'>, now: number): Line {
  const { from, to, cause, unanswered = false } = report;
  const fields = { ...podFields(report.pod), cause, ...why(report.because) };
  if (unanswered) return line('info', 'leaving after an eviction without an answer', fields);
  if (to === null) return line('info', 'eviction cancelled', fields);
  const times = { at: formatDeadline(to), in: formatDuration(to - now) };
  const what = from === null ? 'eviction scheduled' : 'eviction moved';
  return line('info', what, { ...times, ...fields });
}

/** The words for what holds a pod back though nothing has failed. */
const setbackTexts: Readonly<Partial<Record<Blocker['code'], string>>> = {
  Budget: 'blocked by a PDB',
  TwoBudgets: 'blocked by two PDBs',
  Intercepted: 'kept by a webhook, which may move the pod itself',
};

function retryLine({ pod, attempt, at, setback, blocker }: ReportOf<'retry'>, now: number): Line {
  const what = setbackTexts[blocker.code] ?? 'eviction failed';
  const stuck = blocker.verdict === 'never' ? { stuck: blocker.code } : {};
  const next = formatWait(at - now);
  const fields = { ...podFields(pod), attempt, next, ...stuck, error: setback.message };
  return line('warn', `${what}, will try again`, fields);
}

/** Tells why the status of the leader is not published. */
function unpublishedLine(notice: NoticeOf<'statusNotPublished'>): Line {
  const fields = { taintManager: notice.name };
  const error = notice.failure.message;
  const again = notice.isSlow ? 'once a minute' : 'the next heartbeat';
  const how = { ...fields, again, install: 'kubectl taintmgr install crds' };
  if (notice.why === 'outdated') return line('warn', `takeover does not begin: ${error}`, how);
  if (notice.why === 'notInstalled') {
    return line('info', 'status is not published: the cluster has no TaintManager kind', how);
  }
  return line('warn', 'status is not published', { ...fields, error, again });
}

/** Where pods are read by node. */
function ofNode({ nodeName }: { readonly nodeName?: string }): Line['fields'] {
  return nodeName === undefined ? {} : { node: nodeName };
}

function why(because: readonly Reason[]): Line['fields'] {
  return because.length === 0 ? {} : { because: because.map(describeReason).join('; ') };
}

function eventFields({ subject, reason }: ClusterEvent): Fields {
  return { ...subjectFields(subject), reason };
}

const whatHolds = {
  all: 'all evictions are held until it is changed',
  drain: 'evictions for its taint are held until it is changed',
  nothing: 'it is as it was before',
} as const;

const lostTexts = {
  failed: 'the API server refused it',
  tooMany: 'too many events about the same object',
} as const;

const droppedTexts = {
  queueFull: 'too many events are waiting',
  stopped: 'they could not be written before the end',
} as const;

/** Log lines about limits and the pods that they hold back. */
function heldLine({ pod, hit, until }: Extract<PodReport, { kind: 'queued' }>, now: number): Line {
  const { limit, count } = hit;
  const counted = count ? { counted: describeCount(count) } : {};
  const fields = { ...podFields(pod), limit: limitId(hit), by: limit, ...counted };
  if (hit.tripped) return line('warn', 'held by a limit that has tripped', fields);
  // Another line says that the record fails; thousands of pods may wait for it.
  if (limit === 'record') return line('debug', 'held until limit counts are stored', fields);
  const wait = until === null ? {} : { next: formatWait(until - now) };
  return line('info', 'held by a limit', { ...fields, ...wait });
}

/** A limit that has tripped. */
function limitTrippedLine({ limit }: Extract<LimitReport, { kind: 'limitTripped' }>): Line {
  const { id, since, count } = limit;
  const counted = count ? { counted: describeCount(count) } : {};
  const at = since === null ? {} : { since: formatTime(since) };
  return line('warn', 'limit has tripped: pods under it are not evicted until it is resumed', {
    limit: id,
    ...at,
    ...counted,
    next: resumeCommand(id),
  });
}

function unmarkedLine({ command, outcome }: NoticeOf<'podUnmarked'>): Line {
  const pod = podFields(command.pod);
  switch (outcome.kind) {
    case 'done':
      return line('info', 'removed the condition DisruptionTarget: the pod stays', pod);
    case 'gone':
    case 'changed':
      return line('debug', 'this controller has set no condition there', pod);
    default: {
      const fields = { ...pod, error: errorOf(outcome) };
      return line('warn', 'could not remove the condition DisruptionTarget', fields);
    }
  }
}
