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
import {
  type ClusterEvent,
  describeClock,
  driftText,
  type LimitRecordNotice,
  type Notice,
  type PublisherNotice,
} from '@taintmgr/k8s-adapter';
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
  switch (notice.kind) {
    case 'listed':
    case 'watching':
    case 'absent':
    case 'unreadable':
    case 'pagedLists':
    case 'jsonOnly':
    case 'reconnecting':
    case 'podScope':
      return readingLine(notice);
    case 'leaderElected':
      return line('info', 'leader elected', { leader: notice.identity });
    case 'elected':
      return notice.held
        ? line('info', 'became the leader', {})
        : line('info', 'no longer the leader, standing by', {});
    case 'leadershipLost':
      return line('warn', 'leadership lost', { error: notice.why });
    case 'electionFailing':
      return line('warn', 'leader election fails', { error: notice.failure.message });
    case 'clockStepped':
    case 'serverClockMoved':
      return line('warn', describeClock(notice), {});
    case 'synced':
      return line('info', 'caches synced, evictions start', {});
    case 'report':
      return reportLine(notice.report, now);
    case 'commandSent': {
      const { pod, because } = notice.command;
      return line('info', 'evicting', { ...podFields(pod), uid: pod.uid, ...why(because) });
    }
    case 'commandFinished':
      return deniedToDrainLine(notice) ?? evictedLine(notice.command.pod, notice);
    case 'evictionRequests':
    case 'evictionRequestWritten':
      return requestLine(notice);
    case 'drainWriteFinished':
      return drainLine(notice);
    case 'taintStartsKept':
      return taintStartsLine(notice);
    case 'limitRecord':
    case 'limitRecordWritten':
    case 'limitRecordFailed':
      return limitRecordLine(notice);
    case 'nodeWriteFinished':
      return nodeWriteLine(notice);
    case 'markRefused': {
      const fields = { ...podFields(notice.command.pod), error: notice.message };
      return line('warn', 'evicting without the condition DisruptionTarget', fields);
    }
    case 'podUnmarked':
      return unmarkedLine(notice);
    case 'takeoverDrift':
    case 'takeoverMended':
    case 'takeoverContested':
    case 'takeoverInForce':
    case 'takeoverFault':
      return takeoverLine(notice);
    case 'statusPublished':
    case 'statusNotPublished':
    case 'policiesPublished':
    case 'policiesNotPublished':
      return statusLine(notice);
    case 'eventRecorded': {
      const again = notice.count > 1 ? { count: notice.count } : {};
      return line('debug', 'recorded event', { ...eventFields(notice.event), ...again });
    }
    case 'eventLost': {
      const error = notice.failure?.message ?? lostTexts[notice.why];
      return line('warn', 'lost event', { ...eventFields(notice.event), error });
    }
    case 'eventsDropped': {
      const { count, why } = notice;
      return line('warn', 'dropped events', { events: count, why: droppedTexts[why] });
    }
  }
}

type Reading = Extract<
  Notice,
  {
    kind:
      | 'listed'
      | 'watching'
      | 'absent'
      | 'unreadable'
      | 'pagedLists'
      | 'jsonOnly'
      | 'reconnecting'
      | 'podScope';
  }
>;

/** The line about what is read, and how that goes. */
function readingLine(notice: Reading): Line {
  switch (notice.kind) {
    case 'listed': {
      const { resource, objects, upserts, deletes } = notice;
      return line('info', `listed ${resource}`, { ...ofNode(notice), objects, upserts, deletes });
    }
    case 'watching':
      return line('debug', `watching ${notice.resource}`, {
        ...ofNode(notice),
        from: notice.resourceVersion,
      });
    case 'absent': {
      const { resource, failure } = notice;
      if (failure.status === 403) {
        return line('warn', `cannot read ${resource}, goes on without them`, {
          error: failure.message,
        });
      }
      return line('debug', `the cluster has no ${resource}: their kind is not installed`, {});
    }
    case 'unreadable': {
      const { object, faults, isHeld } = notice;
      const what = isHeld ? 'all evictions are held while it is there' : 'it is as it was before';
      return line('warn', `${object} cannot be followed, ${what}`, { error: faults.join('; ') });
    }
    case 'pagedLists':
      return line('info', 'the API server does not stream lists: they are read in pages', {});
    case 'jsonOnly': {
      const { resource } = notice;
      return line(
        'info',
        `the API server has no protobuf for ${resource}: they are read in JSON`,
        {},
      );
    }
    case 'reconnecting': {
      const { resource, failure, wait, next } = notice;
      // As each API server answers for a second or two after a definition was installed.
      if (/storage is \(re\)initializing/.test(failure.message)) {
        const again = { ...ofNode(notice), wait: formatWait(wait) };
        return line('info', `the API server begins to serve ${resource}, will ask again`, again);
      }
      const fields = { ...ofNode(notice), error: failure.message, wait: formatWait(wait), next };
      return line('warn', `reading ${resource} failed, reconnecting`, fields);
    }
    case 'podScope': {
      const { scope, nodes, pods } = notice;
      const which = scope === 'all' ? 'all pods' : 'the pods of tainted nodes only';
      return line('info', `reading ${which}`, { nodes, ...(pods !== null && { pods }) });
    }
  }
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

function taintStartsLine({ command, outcome }: Extract<Notice, { kind: 'taintStartsKept' }>): Line {
  const fields = { node: command.nodeName };
  if (outcome.kind === 'done') return line('debug', 'recorded when taints were first seen', fields);
  const failed = { ...fields, error: errorOf(outcome) };
  return line('warn', 'could not record when taints were first seen', failed);
}

/** Tells whether the status of the leader is published. */
function statusLine(notice: PublisherNotice): Line {
  if ('resource' in notice) return policyStatusLine(notice);
  const fields = { taintManager: notice.name };
  if (notice.kind === 'statusPublished') return line('info', 'publishing status', fields);
  const next = notice.isSlow ? 'once a minute' : 'the next heartbeat';
  const tried = { ...fields, error: notice.failure.message, again: next };
  const how = { again: next, install: 'kubectl taintmgr install crds' };
  if (notice.why === 'outdated') {
    return line('warn', `takeover does not begin: ${notice.failure.message}`, {
      ...fields,
      ...how,
    });
  }
  if (notice.why !== 'notInstalled') return line('warn', 'status is not published', tried);
  return line('info', 'status is not published: the cluster has no TaintManager kind', {
    ...fields,
    ...how,
  });
}

/** Tells whether the status of policies, taint rules and pauses is. */
function policyStatusLine(notice: Extract<PublisherNotice, { resource: string }>): Line {
  const { resource } = notice;
  if (notice.kind === 'policiesPublished') {
    return line('info', 'publishing the status of policies again', { resource });
  }
  const again = notice.why === 'failed' ? 'in a few seconds' : 'once a minute';
  const fields = { resource, error: notice.failure.message, again };
  return line('warn', 'the status of policies is not published', fields);
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
  // One line says that the record fails; there may be thousands of pods that wait for it.
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

/** The line about what became of the record of limits. */
function limitRecordLine(notice: LimitRecordNotice): Line {
  switch (notice.kind) {
    case 'limitRecord':
      return line('debug', 'read limit counts', {
        limits: Object.keys(notice.record ?? {}).length,
      });
    case 'limitRecordWritten':
      return line('debug', 'stored limit counts', {});
    case 'limitRecordFailed': {
      const { command, lease, outcome } = notice;
      const what = command.kind === 'readLimits' ? 'read' : 'store';
      const fields = { lease, error: errorOf(outcome) };
      if (command.tidies) return line('debug', `could not ${what} what limits have left`, fields);
      const isConflict = outcome.kind === 'changed';
      return line(
        isConflict ? 'debug' : 'warn',
        `could not ${what} limit counts: pods under limits are not evicted until then`,
        fields,
      );
    }
  }
}

type Unmarked = Extract<Notice, { kind: 'podUnmarked' }>;

function unmarkedLine({ command, outcome }: Unmarked): Line {
  const pod = podFields(command.pod);
  switch (outcome.kind) {
    case 'done':
      return line('info', 'took the condition DisruptionTarget away: the pod stays', pod);
    case 'gone':
    case 'changed':
      return line('debug', 'there is no condition of ours to take away', pod);
    default: {
      const fields = { ...pod, error: errorOf(outcome) };
      return line('warn', 'could not take the condition DisruptionTarget away', fields);
    }
  }
}

type Policies = Extract<
  Notice,
  {
    kind:
      | 'takeoverDrift'
      | 'takeoverMended'
      | 'takeoverContested'
      | 'takeoverInForce'
      | 'takeoverFault';
  }
>;

/** The line about how the admission policies of takeover are doing. */
function takeoverLine(notice: Policies): Line {
  switch (notice.kind) {
    case 'takeoverDrift': {
      const fields = { object: notice.object, drift: driftText(notice.drift) };
      return line('warn', 'somebody changed an object of takeover, mending it', fields);
    }
    case 'takeoverMended': {
      const { object, isNew, left } = notice;
      if (left.length > 0) {
        const fields = { object, drift: driftText(left) };
        return line('warn', 'an object of takeover is not as it was written', fields);
      }
      return line('info', isNew ? 'installed an object of takeover' : 'mended it', { object });
    }
    case 'takeoverContested': {
      const fields = { object: notice.object, drift: driftText(notice.drift) };
      const text = 'somebody changes an object of takeover again and again: it is left as it is';
      return line('warn', text, fields);
    }
    case 'takeoverInForce':
      return notice.isInForce
        ? line('info', 'the policies of takeover are in force', {})
        : line('warn', 'the policies of takeover are not in force', {});
    case 'takeoverFault': {
      const fields = { object: notice.object, error: notice.failure.message };
      return line('warn', 'could not look after the policies of takeover', fields);
    }
  }
}
