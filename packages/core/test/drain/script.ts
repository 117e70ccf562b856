import {
  type Event,
  formatTaint,
  type LabelSelector,
  type Node,
  type Outcome,
  type Pod,
  parseTaint,
  type Toleration,
} from '@taintmgr/core';
import type { Departure, DrainCommand, DrainNote, DrainTarget } from '@taintmgr/core/drain';
import type { NodeDrainSpec } from '@taintmgr/core/policy';
import { pauseOf, policyOf } from '../policy/objects.ts';
import { type DrainOptions, drainConfig, StandaloneDrain } from './standalone-drain.ts';

type PodGroup = NonNullable<NodeDrainSpec['pods']['last']>[number];

/**
 * The little language of the drain's transcripts. One event a line, first its time in seconds; each
 * is followed by ticks for as long as there is something to do at that time:
 *
 *     drain maintenance:NoExecute n1,n2/zone-b {"once": true}   begins a new drain
 *     0 node n1 maintenance:NoExecute@-10 [marked]   a node and its taints, @ = from when they count
 *     0 pod shop/web-0 n1 [for maintenance:NoExecute 5] [bare] [emptydir] [daemonset] [mirror]
 *                         [finished] [terminating@-5] [by DeletionByTaintManager MANAGER]
 *                         [priority 100] [app NAME]
 *     3 pod shop/web-0 gone
 *     0 node n1 gone | synced | tick | state
 *     0 policy NAME {"action":"Keep",...} | gone      0 pause NAME [until 60] | gone
 *     0 done shop/web-0 | gone ... | blocked ... MESSAGE | failed ... 500 MESSAGE   (0: no answer)
 *     0 done node/n1 | failed node/n1 403 MESSAGE       the answer to a request to taint it
 *     0 done mark/n1 | changed mark/n1 MESSAGE          the answer to a request to renew its mark
 *     0 taken mark/n1 MESSAGE                           the same, where another run goes on with the drain
 */
export function runDrainScript(script: string): string {
  const run = new Run();
  const output: string[] = [];
  for (const line of script.split('\n')) {
    output.push(line);
    if (line.startsWith('#') || line.trim() === '') continue;
    output.push(...run.step(line).map((text) => `    ${text}`));
  }
  return output.join('\n');
}

/** As JSON has it. */
type Options = Omit<DrainOptions, 'podOrder'> & {
  readonly waveLimits?: Readonly<Record<string, number>>;
  /** Zones are waves. */
  readonly zoneSerial?: boolean;
  readonly podOrder?: { readonly byPriority: boolean; readonly last: readonly Group[] };
};

interface Group {
  readonly namespaces: readonly string[];
  readonly pods: LabelSelector | null;
}

function groupOf({ namespaces, pods }: Group): PodGroup {
  return { namespaces, ...(pods && { podSelector: pods }) };
}

const ticksMax = 10;

class Run {
  #drain: StandaloneDrain | null = null;
  readonly #pods = new Map<string, Pod>();
  readonly #ids = new Map<string, string>();
  #recreated = 0;

  step(line: string): string[] {
    const [time = '', verb = '', ...words] = line.split(' ');
    if (time === 'drain') return this.#begin(verb, words);
    const drain = this.#drain;
    if (!drain) throw new Error('a script begins with a drain');
    if (verb === 'state') return stateOf(drain);
    const now = Number(time) * 1000;
    const commands = [...drain.handle(now, this.#event(verb, words))];
    for (let tick = 0; tick < ticksMax; tick++) {
      const wake = drain.nextWake();
      if (wake === null || wake > now) break;
      commands.push(...drain.handle(now, { kind: 'tick' }));
    }
    const wake = drain.nextWake();
    return [
      ...commands.flatMap((command) => this.#tell(command)),
      ...drain.machine.takeNotes().map(tellNote),
      ...(drain.machine.finished ? ['finished'] : []),
      ...(wake === null ? [] : [`wake ${seconds(wake)}`]),
    ];
  }

  #begin(taint: string, [names = '', ...config]: readonly string[]): string[] {
    const options: Options = config.length > 0 ? JSON.parse(config.join(' ')) : {};
    const { waveLimits = {}, zoneSerial = false, podOrder, ...settings } = options;
    const targets = names.split(',').map((text): DrainTarget => {
      const [name = '', zone = ''] = text.split('/');
      const wave = { name: zone, nodesAtOnceMax: waveLimits[zone] ?? null };
      return { name, zone, ...(zoneSerial && { wave }) };
    });
    const order = podOrder && { ...podOrder, last: podOrder.last.map(groupOf) };
    const given = { ...settings, ...(order && { podOrder: order }) };
    this.#drain = new StandaloneDrain(drainConfig(taint, given), targets);
    this.#pods.clear();
    return [];
  }

  #event(verb: string, words: readonly string[]): Event {
    const [subject = '', ...rest] = words;
    switch (verb) {
      case 'node':
        if (rest[0] === 'gone') return { kind: 'nodeDelete', name: subject };
        return { kind: 'nodeUpsert', node: readNode(subject, rest) };
      case 'pod':
        return this.#podEvent(subject, rest);
      case 'policy':
        if (rest[0] === 'gone') return { kind: 'policyDelete', name: subject };
        return { kind: 'policyUpsert', policy: policyOf(subject, JSON.parse(rest.join(' '))) };
      case 'pause': {
        if (rest[0] === 'gone') return { kind: 'pauseDelete', name: subject };
        const until = rest[0] === 'until' ? Number(rest[1]) * 1000 : null;
        return { kind: 'pauseUpsert', pause: pauseOf(subject, { until, since: 0 }) };
      }
      case 'synced':
      case 'tick':
        return { kind: verb };
      default: {
        const id = this.#ids.get(subject) ?? 'unknown';
        return { kind: 'result', id, outcome: readOutcome(verb, rest) };
      }
    }
  }

  #podEvent(subject: string, words: readonly string[]): Event {
    const known = this.#pods.get(subject);
    if (words[0] === 'gone') {
      this.#pods.delete(subject);
      this.#recreated += 1;
      return { kind: 'podDelete', uid: known?.uid ?? 'unknown' };
    }
    const [namespace = '', name = ''] = subject.split('/');
    const uid = known?.uid ?? (this.#recreated > 0 ? `${name}-${this.#recreated}` : name);
    const pod = { ...readPod(words), namespace, name, uid };
    this.#pods.set(subject, pod);
    return { kind: 'podUpsert', pod };
  }

  #tell(command: DrainCommand): string[] {
    if (command.kind === 'recordEvent') return [];
    if (command.kind === 'taintNode') {
      this.#ids.set(`node/${command.nodeName}`, command.id);
      return [`taintNode ${command.nodeName}`];
    }
    if (command.kind === 'renewMark') {
      this.#ids.set(`mark/${command.nodeName}`, command.id);
      return [`renewMark ${command.nodeName}`];
    }
    const { kind, pod, gracePeriodSeconds } = command;
    this.#ids.set(`${pod.namespace}/${pod.name}`, command.id);
    const grace = gracePeriodSeconds === null ? '' : ` grace ${gracePeriodSeconds}s`;
    const escalated = kind === 'deletePod' && command.escalated ? ' escalated' : '';
    return [`${kind}${escalated}${grace} ${pod.namespace}/${pod.name} uid ${pod.uid}`];
  }
}

function tellNote(note: DrainNote): string {
  switch (note.kind) {
    case 'nodeBegun':
      return `- begun ${note.node}${note.wasTainted ? '' : ' as tainted'}`;
    case 'nodeSetBack':
      return `- nodeSetBack ${note.node} ${note.blocker.code}`;
    case 'nodeEnded': {
      const { kind } = note.phase;
      return `- ${kind} ${note.node}${note.phase.kind === 'failed' ? ` ${note.phase.why}` : ''}`;
    }
    case 'podGone':
      return `- gone ${nameOf(note.pod)} ${note.took === null ? '' : `in ${seconds(note.took)}`}${byText(note.departure)}`;
    case 'stopped':
      return `- stopped at ${note.stop.pod.name}${byText(note.stop.by)}`;
    case 'podLeft':
      return `- left ${nameOf(note.pod)} ${note.faults.join(' ')}`;
    case 'podSetBack':
    case 'podGivenUp': {
      const { code, verdict } = note.blocker;
      return `- ${note.kind} ${nameOf(note.pod)} ${code} ${verdict}`;
    }
    default:
      return `- ${note.kind} ${nameOf(note.pod)}`;
  }
}

function byText(departure: Departure): string {
  if (departure.kind !== 'foreign') return departure.kind === 'ours' ? '' : ` ${departure.kind}`;
  const { manager, reason } = departure;
  return ` by ${manager ?? 'somebody else'}${reason === null ? '' : ` ${reason}`}`;
}

function stateOf({ machine }: StandaloneDrain): string[] {
  return [
    ...machine.nodes().map(({ name, phase }) => `${name} ${phase.kind}`),
    ...machine.pods().map((pod) => {
      const until = pod.state.kind === 'waiting' ? ` until ${seconds(pod.state.until)}` : '';
      return `${nameOf(pod)} ${pod.state.kind}${until} tries ${pod.tries}`;
    }),
  ];
}

function nameOf({ pod }: { readonly pod: Pick<Pod, 'namespace' | 'name'> }): string {
  return `${pod.namespace}/${pod.name}`;
}

const mark = { id: 'd1', by: 'ann', heartbeat: '1' };

function readNode(name: string, words: readonly string[]): Node {
  const isMarked = words.at(-1) === 'marked';
  const taints = words.slice(0, isMarked ? -1 : words.length).map((text) => {
    const [spec = '', added] = text.split('@');
    // A time of the API counts from the end of its second.
    const timeAdded = added === undefined ? null : (Number(added) - 1) * 1000;
    return { ...parseTaint(spec), timeAdded };
  });
  const drains = taints.map((taint) => ({ ...mark, taint: formatTaint(taint) }));
  return { name, uid: name, taints, ...(isMarked && { drains }) };
}

function readPod(words: readonly string[]): Omit<Pod, 'namespace' | 'name' | 'uid'> {
  const [nodeName = ''] = words;
  const has = (word: string): boolean => words.includes(word);
  const terminating = words.find((word) => word.startsWith('terminating@'))?.split('@')[1];
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs' };
  const managed = has('daemonset') ? { ...owner, kind: 'DaemonSet', name: 'agent' } : owner;
  return {
    nodeName,
    tolerations: readTolerations(words),
    boundAt: null,
    deletionTimestamp: terminating === undefined ? null : Number(terminating) * 1000,
    phase: has('finished') ? 'Succeeded' : 'Running',
    generation: 1,
    mirror: has('mirror'),
    owner: has('bare') ? null : managed,
    hasEmptyDir: has('emptydir'),
    ...readDisruption(words),
    ...readTraits(words),
  };
}

function readTraits(words: readonly string[]): Pick<Pod, 'priority' | 'labels'> {
  const after = (word: string): string | undefined => words[words.indexOf(word) + 1];
  return {
    ...(words.includes('priority') && { priority: Number(after('priority')) }),
    ...(words.includes('app') && { labels: { app: after('app') ?? '' } }),
  };
}

function readDisruption(words: readonly string[]): Pick<Pod, 'disruption'> {
  const at = words.indexOf('by');
  const [reason, manager = null] = at < 0 ? [] : words.slice(at + 1);
  return reason === undefined ? {} : { disruption: { reason, manager } };
}

function readTolerations(words: readonly string[]): readonly Toleration[] {
  const at = words.indexOf('for');
  if (at < 0) return [];
  const [spec = '', time] = words.slice(at + 1);
  const { key, effect } = parseTaint(spec);
  const tolerationSeconds = time !== undefined && /^\d+$/.test(time) ? Number(time) : null;
  return [{ key, operator: 'Exists', value: '', effect, tolerationSeconds }];
}

function readOutcome(verb: string, words: readonly string[]): Outcome {
  if (verb === 'done' || verb === 'gone') return { kind: verb };
  if (verb === 'taken') return { kind: 'changed', message: words.join(' '), takenOver: true };
  if (verb === 'changed') return { kind: verb, message: words.join(' ') };
  if (verb === 'blocked') return { kind: verb, message: words.join(' '), retryAfter: null };
  const [status = '', ...message] = words;
  return {
    kind: 'failed',
    status: Number(status) || null,
    message: message.join(' '),
    retryAfter: null,
  };
}

function seconds(millis: number): string {
  return `${millis / 1000}s`;
}
