import { type Outcome, parseQuantity, quantityValue } from '@taintmgr/core';
import {
  createPressureMachine,
  describePressureReason,
  formatThreshold,
  type NodeObservation,
  type PodUsage,
  type PressureCommand,
  type PressureEvent,
  type PressureExplanation,
  type PressureMachine,
  type PressurePod,
  type PressureReason,
  type PressureReport,
  type Sample,
} from '@taintmgr/core/pressure';
import { formatAmount } from '../../src/model/quantity.ts';
import { itAnswers } from '../transcripts.ts';

/**
 * The little language of the pressure transcripts. One command a line, first its time in seconds;
 * each is followed by a tick:
 *
 *     0 config {"settings": {"evictionHard": {"memory.available": "1Gi"}}}
 *     0 node n1 pool=big pressure=MemoryPressure | gone      labels; conditions an earlier run wrote
 *     0 pod shop/web on n1 priority 5 requests memory=1Gi limits ephemeral-storage=2Gi grace 20
 *           cache 1Gi static terminating finished            an emptyDir and its limit; flags
 *     0 pod shop/web gone
 *     0 sees n1 memory.available=500Mi/8Gi@-5 | shop/web memory=900Mi logs=1Gi pids=5 cache=2Gi
 *                                                            @ = time, `@none` = does not say
 *     0 fails n1 connection refused                          the node could not be asked
 *     0 done shop/web | gone ... | blocked ... words | failed ... 500 words     or n1: its write
 *     0 synced | standby | leader | tick
 *     0 explain n1
 */
function runPressureScript(script: string): string {
  const run = new Run();
  const output: string[] = [];
  for (const line of script.split('\n')) {
    const isCommand = line.trim() !== '' && !line.startsWith('#');
    output.push(line);
    if (isCommand) output.push(...run.step(line).map((text) => `    ${text}`));
  }
  return output.join('\n');
}

class Run {
  #machine: PressureMachine = createPressureMachine();
  readonly #pods = new Map<string, PressurePod>();
  readonly #ids = new Map<string, string>();

  step(line: string): string[] {
    const [time = '', verb = '', ...words] = line.split(' ');
    const now = Number(time) * 1000;
    if (verb === 'config') {
      this.#machine = createPressureMachine(JSON.parse(words.join(' ')));
      return [];
    }
    if (verb === 'explain') return explain(this.#machine.explain(now, words[0] ?? ''));
    const told = this.#machine.handle(now, this.#event(now, verb, words));
    const commands = [...told, ...this.#machine.handle(now, { kind: 'tick' })];
    const wake = this.#machine.nextWake();
    const lines = commands.map((command) => this.#tell(command));
    return wake === null ? lines : [...lines, `wake ${seconds(wake)}`];
  }

  #event(now: number, verb: string, words: readonly string[]): PressureEvent {
    const [subject = '', ...rest] = words;
    switch (verb) {
      case 'node':
        return rest[0] === 'gone'
          ? { kind: 'pressureNodeGone', name: subject }
          : readNode(subject, rest);
      case 'pod':
        return this.#readPod(subject, rest);
      case 'sees':
        return {
          kind: 'observed',
          nodeName: subject,
          observation: this.#readObservation(now, rest.join(' ')),
        };
      case 'fails':
        return { kind: 'observationFailed', nodeName: subject, message: rest.join(' ') };
      case 'synced':
      case 'tick':
        return { kind: verb };
      case 'standby':
      case 'leader':
        return { kind: 'leadership', held: verb === 'leader' };
      default: {
        const id = this.#ids.get(subject);
        if (id === undefined) throw new Error(`nothing was sent about ${subject}`);
        return { kind: 'result', id, outcome: readOutcome(verb, rest) };
      }
    }
  }

  #readPod(subject: string, words: readonly string[]): PressureEvent {
    const [namespace = '', name = ''] = subject.split('/');
    if (words[0] === 'gone') return { kind: 'pressurePodGone', uid: name };
    const requests = readList(after(words, 'requests'));
    const limits = readList(after(words, 'limits'));
    const cacheLimit = after(words, 'cache');
    const pod: PressurePod = {
      namespace,
      name,
      uid: name,
      nodeName: after(words, 'on') ?? this.#pods.get(subject)?.nodeName ?? '',
      priority: Number(after(words, 'priority') ?? 0),
      phase: words.includes('finished') ? 'Succeeded' : 'Running',
      deletionTimestamp: words.includes('terminating') ? 0 : null,
      generation: 1,
      isStatic: words.includes('static'),
      isMirror: false,
      gracePeriodSeconds: words.includes('grace') ? Number(after(words, 'grace')) : 30,
      qosClass: '',
      containers: [{ name: 'main', requests, limits }],
      initContainers: [],
      resources: null,
      overhead: {},
      volumes:
        cacheLimit === undefined
          ? []
          : [{ name: 'cache', kind: 'emptyDir', sizeLimit: cacheLimit }],
    };
    this.#pods.set(subject, pod);
    return { kind: 'pressurePod', pod };
  }

  #readObservation(now: number, text: string): NodeObservation {
    const [ofNode = '', ...ofPods] = text.split(' | ');
    const samples = ofNode
      .split(' ')
      .filter((word) => word !== '')
      .map((word): [string, Sample] => readSample(now, word));
    return { samples: Object.fromEntries(samples), pods: ofPods.map(readUsage) };
  }

  #tell(command: PressureCommand): string {
    switch (command.kind) {
      case 'evictUnderPressure': {
        const { pod, id, gracePeriodSeconds, status, because } = command;
        this.#ids.set(`${pod.namespace}/${pod.name}`, id);
        const marked = status.disruptionTarget === null ? '' : ' DisruptionTarget';
        const how = `grace ${gracePeriodSeconds}s${marked}`;
        return `evict ${pod.namespace}/${pod.name} ${how} because ${tellReasons(because)}`;
      }
      case 'reclaimNode':
        this.#ids.set(command.node.name, command.id);
        return `reclaim ${command.node.name} ${command.resource}: ${command.functions.join(', ')}`;
      case 'setPressureConditions': {
        this.#ids.set(command.node.name, command.id);
        const states = command.conditions.map(({ type, status }) => `${type}=${status}`);
        return `conditions ${command.node.name} ${states.join(' ')}`;
      }
      case 'recordNodeEvent':
        return `event ${command.node.name} ${command.reason} "${command.message}"`;
      case 'recordPressureEvent':
        return `event ${command.pod.namespace}/${command.pod.name} ${command.reason} "${command.message}"`;
      case 'pressureReport':
        return tellReport(command.report);
    }
  }
}

function tellReport(report: PressureReport): string {
  switch (report.kind) {
    case 'threshold': {
      const because = report.because.length === 0 ? '' : `: ${tellReasons(report.because)}`;
      const name = formatThreshold(report.threshold);
      return `threshold ${report.nodeName} ${name} ${report.from} -> ${report.to}${because}`;
    }
    case 'doubt':
    case 'withheld':
      return `${report.kind} ${report.nodeName}: ${tellReasons(report.because) || 'none any more'}`;
    case 'pressureRetry': {
      const { pod, setback, until } = report;
      const name = `${pod.namespace}/${pod.name}`;
      return `retry ${name} at ${seconds(until)}: ${setback.kind} ${setback.message}`;
    }
  }
}

function explain(explanation: PressureExplanation | null): string[] {
  if (!explanation) return ['not known'];
  const { pool, layout, observedAt, doubts, decision, work } = explanation;
  const state = `pool ${pool ?? '-'}, layout ${layout ?? '-'}, seen ${secondsOrDash(observedAt)}`;
  const because = decision && 'because' in decision ? `: ${tellReasons(decision.because)}` : '';
  return [
    state,
    ...doubts.map((doubt) => `doubt: ${describePressureReason(doubt)}`),
    ...explanation.signals.flatMap(explainSignal),
    ...explanation.conditions
      .filter(({ holds }) => holds)
      .map(({ type, clearsAt }) => `${type} clears at ${secondsOrDash(clearsAt)}`),
    `decision ${decision?.kind ?? '-'}${because}`,
    `work ${work?.kind ?? '-'}`,
  ];
}

function explainSignal({
  thresholds,
  order,
  evictionsNeeded,
}: PressureExplanation['signals'][number]): string[] {
  const states = thresholds.map(
    ({ threshold, phase, dueAt }) =>
      `${formatThreshold(threshold)} ${phase}, due ${secondsOrDash(dueAt)}`,
  );
  const pods = order.map(({ pod, used, requested, refusal, decidedBy, availableAfter }) => {
    const [is, asked, then] = [used, requested, availableAfter].map((one) =>
      one === null ? '-' : formatAmount(one),
    );
    const numbers = `uses ${is} of ${asked}, then ${then}`;
    const refused = refusal ? ` (stays: ${describePressureReason(refusal)})` : '';
    return `  ${pod.namespace}/${pod.name} ${numbers}, by ${decidedBy ?? '-'}${refused}`;
  });
  return [...states, ...pods, `  evictions needed: ${evictionsNeeded ?? 'more than there are'}`];
}

function tellReasons(because: readonly PressureReason[]): string {
  return because.map(describePressureReason).join('; ');
}

function readNode(name: string, words: readonly string[]): PressureEvent {
  const pairs = words.map((word) => word.split('=') as [string, string]);
  const conditions = pairs.flatMap(([key, value]) => (key === 'pressure' ? [value] : []));
  const labels = Object.fromEntries(pairs.filter(([key]) => key !== 'pressure'));
  const node = { name, uid: name, labels, conditions } as Extract<
    PressureEvent,
    { kind: 'pressureNode' }
  >['node'];
  return { kind: 'pressureNode', node };
}

function readSample(now: number, text: string): [string, Sample] {
  const [, signal = '', available = '', capacity = '', at] =
    /^([^=]+)=([^/]+)\/([^@]+)(?:@(.+))?$/.exec(text) ?? [];
  const time = at === undefined ? now : at === 'none' ? null : Number(at) * 1000;
  return [signal, { available: amount(available), capacity: amount(capacity), time }];
}

function readUsage(text: string): PodUsage {
  const [name = '', ...words] = text.split(' ');
  const amounts = readList(words.join(','));
  const of = (key: string): number | null =>
    amounts[key] === undefined ? null : amount(amounts[key]);
  return {
    uid: name.split('/')[1] ?? '',
    workingSetBytes: of('memory'),
    processes: of('pids'),
    storageBytes: of('storage'),
    containers: [
      {
        name: 'main',
        workingSetBytes: of('memory'),
        rootfs: { usedBytes: of('rootfs'), inodesUsed: of('inodes') },
        logs: { usedBytes: of('logs'), inodesUsed: null },
      },
    ],
    volumes: [{ name: 'cache', usedBytes: of('cache'), inodesUsed: null }],
  };
}

function readOutcome(verb: string, words: readonly string[]): Outcome {
  if (verb === 'done' || verb === 'gone') return { kind: verb };
  if (verb === 'blocked') return { kind: verb, message: words.join(' '), retryAfter: null };
  if (verb !== 'failed') throw new Error(`unknown command ${verb}`);
  const [status = '', ...message] = words;
  return { kind: 'failed', status: Number(status), message: message.join(' '), retryAfter: null };
}

/** `a=1,b=2`; nothing for undefined. */
function readList(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? '').split(',').filter((pair) => pair !== '');
  return Object.fromEntries(pairs.map((pair) => pair.split('=')));
}

function amount(text: string): number {
  return text === 'nonsense' ? Number.NaN : quantityValue(parseQuantity(text));
}

function after(words: readonly string[], word: string): string | undefined {
  return words.includes(word) ? words[words.indexOf(word) + 1] : undefined;
}

function seconds(millis: number): string {
  return `${millis / 1000}s`;
}

function secondsOrDash(millis: number | null): string {
  return millis === null ? '-' : seconds(millis);
}

/** Has these transcripts of testdata/pressure answered as they are written. */
export function itAnswersPressure(names: string): void {
  itAnswers('pressure', runPressureScript, names);
}
