import {
  type Command,
  createEngine,
  describeReason,
  type Engine,
  type Event,
  formatTaint,
  type Node,
  type Outcome,
  type Pod,
  parseTaint,
  type Taint,
  type Toleration,
  type WorkingDrain,
} from '@taintmgr/core';
import type { DeviceResource, PodClaim } from '@taintmgr/core/devices';
import { describeCount, type EvictionPause, type EvictionPolicy } from '@taintmgr/core/policy';
import { pauseOf, policyOf } from '../policy/objects.ts';
import { itAnswers } from '../transcripts.ts';

/**
 * The little language of the transcripts. One command a line, first its time in seconds; each is
 * followed by a tick:
 *
 *     0 node n1 maintenance:NoExecute@-10     a node and its taints, @ = timeAdded; then, if need be,
 *                                             zone z | labels a=b | deadline 100 | starts maintenance:NoExecute@-5
 *                                             (_shop after the taint: for pods of a namespace)
 *                                             written 7 (its taints, by managed fields) | gap
 *                                             drain ID=HEARTBEAT (of its first taint)
 *     0 pod shop/web-0 on n1 for maintenance:NoExecute 5 | all   tolerations: a taint and seconds
 *     3 pod shop/web-0 gone | terminating | mirror | daemonset | finished | optedout | down | grace 20 ...
 *                         marked taintmgr-controller   its condition DisruptionTarget, and who wrote it
 *     0 synced | standby | leader | tick | node n1 gone | view lost | view current
 *     0 clock 600 | -3                      the cluster's clock is so far ahead of the time
 *     0 pause NAME zones z1,z2 | labels a=b | keys k* | namespaces shop | until 90 | since -5
 *     0 resume NAME | resume-evictions
 *     0 policy NAME {"action":"Keep","match":{"pods":...},...} | gone
 *     0 namespace shop team=a,env=b | gone
 *     0 rule NAME health:NoExecute@-5 d0 | every | gone     a DeviceTaintRule
 *     0 slice NAME d0 health:NoExecute@-5 | gone            a ResourceSlice of one device, d0 of pool n1
 *     0 claim shop/gpu d0 of shop/web-0 tolerates health:NoExecute 5 | all | gone
 *     0 hidden devicetaintrules | none      what may not be read; a pod with claims: `uses gpu | extended`
 *     0 record {"record":...,"resume":...}   what readLimits finds; `done limits` answers
 *     0 done shop/web-0 | gone ... | failed ... 500 boom | blocked ... needs 2, has 2
 *     0 explain n1 | counts
 */
function runScript(script: string): string {
  const run = new Run();
  const output: string[] = [];
  for (const line of script.split('\n')) {
    if (line.startsWith('#') || line.trim() === '') {
      output.push(line);
      continue;
    }
    output.push(line, ...run.step(line).map((text) => `    ${text}`));
  }
  return output.join('\n');
}

const base = { phase: 'Running', generation: 1, boundAt: null, owner: null, hasEmptyDir: false };

class Run {
  #engine: Engine = createEngine();
  readonly #pods = new Map<string, Pod>();
  readonly #ids = new Map<string, string>();
  #recreated = 0;

  step(line: string): string[] {
    const [time = '', verb = '', ...words] = line.split(' ');
    const now = Number(time) * 1000;
    if (verb === 'config') return this.#configure(JSON.parse(words.join(' ')));
    if (verb === 'explain') return this.#explain(now, words[0] ?? '');
    if (verb === 'counts') return this.#counts(now);
    const told = this.#engine.handle(now, this.#event(now, verb, words));
    const commands = [...told, ...this.#engine.handle(now, { kind: 'tick' })];
    const wake = this.#engine.nextWake();
    const lines = commands.map((command) => this.#tell(command));
    return wake === null ? lines : [...lines, `wake ${seconds(wake)}`];
  }

  #configure(config: Parameters<typeof createEngine>[0]): string[] {
    this.#engine = createEngine(config);
    return [];
  }

  #event(now: number, verb: string, words: readonly string[]): Event {
    const [subject = '', ...rest] = words;
    switch (verb) {
      case 'node':
        if (rest[0] === 'gone') return { kind: 'nodeDelete', name: subject };
        return {
          kind: 'nodeUpsert',
          node: readNode(subject, rest),
          ...(rest.includes('gap') && { afterGap: true }),
        };
      case 'pod':
        return this.#podEvent(subject, rest);
      case 'synced':
      case 'tick':
        return { kind: verb };
      case 'pause':
        return { kind: 'pauseUpsert', pause: readPause(now, subject, rest) };
      case 'resume':
        return { kind: 'pauseDelete', name: subject };
      case 'policy':
        if (rest[0] === 'gone') return { kind: 'policyDelete', name: subject };
        return { kind: 'policyUpsert', policy: policyOf(subject, readPolicy(rest)) };
      case 'namespace':
        if (rest[0] === 'gone') return { kind: 'namespaceDelete', name: subject };
        return {
          kind: 'namespaceUpsert',
          namespace: { name: subject, labels: readLabels(rest[0]) },
        };
      case 'view':
        return { kind: 'view', current: subject === 'current' };
      case 'clock':
        return { kind: 'clock', ahead: Number(subject) * 1000 };
      case 'rule':
      case 'slice':
      case 'claim':
      case 'hidden':
        return deviceEvent(verb, subject, rest);
      case 'resume-evictions':
        return { kind: 'resumeEvictions' };
      case 'record':
        return { kind: 'limitRecord', resume: null, record: null, ...readRecord(words) };
      case 'standby':
      case 'leader':
        return { kind: 'leadership', held: verb === 'leader' };
      default:
        return {
          kind: 'result',
          id: this.#ids.get(subject) ?? 'unknown',
          outcome: readOutcome(verb, rest),
        };
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
    const pod: Pod = {
      ...base,
      namespace,
      name,
      uid: known?.uid ?? (this.#recreated > 0 ? `${name}-${this.#recreated}` : name),
      nodeName: after(words, 'on') ?? known?.nodeName ?? '',
      tolerations: words.includes('for')
        ? readTolerations(words.slice(words.indexOf('for') + 1))
        : (known?.tolerations ?? []),
      boundAt: after(words, 'bound') ? Number(after(words, 'bound')) * 1000 : base.boundAt,
      deletionTimestamp: words.includes('terminating') ? 0 : null,
      mirror: words.includes('mirror'),
      phase: words.includes('finished') ? 'Succeeded' : base.phase,
      owner: words.includes('daemonset')
        ? { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }
        : base.owner,
      optedOut: words.includes('optedout'),
      ready: words.includes('down') ? 'False' : null,
      gracePeriodSeconds: Number(after(words, 'grace') ?? 30),
      ...(words.includes('labels') && { labels: readLabels(after(words, 'labels')) }),
      ...(words.includes('uses') && { claims: [readClaim(after(words, 'uses') ?? '')] }),
      ...(words.includes('marked') && {
        disruption: { reason: 'DeletionByTaintManager', manager: after(words, 'marked') ?? null },
      }),
    };
    this.#pods.set(subject, pod);
    return { kind: 'podUpsert', pod };
  }

  #tell(command: Command): string {
    if (command.kind === 'report') return tellReport(command.report);
    if (command.kind === 'keepTaintStarts') {
      this.#ids.set(command.nodeName, command.id);
      const starts = Object.entries(command.starts ?? {}).map(([t, at]) => `${t} ${seconds(at)}`);
      return `keepTaintStarts ${command.nodeName} ${starts.join(', ') || 'none'}`;
    }
    if (command.kind === 'readLimits' || command.kind === 'keepLimits') {
      this.#ids.set('limits', command.id);
      const resumed = command.kind === 'keepLimits' && command.resumed ? ' resumed' : '';
      const record = command.kind === 'keepLimits' ? ` ${JSON.stringify(command.record)}` : '';
      const tidies = command.tidies ? ' tidies' : '';
      return `${command.kind}${resumed}${tidies}${record}`;
    }
    if (command.kind === 'recordLimitEvent') return `event ${command.reason} "${command.message}"`;
    if (command.kind === 'unmarkPod') {
      const { namespace, name } = command.pod;
      this.#ids.set(`${namespace}/${name}`, command.id);
      return `unmarkPod ${namespace}/${name}`;
    }
    if (!('because' in command && 'pod' in command)) return command.kind;
    const { pod, because } = command;
    const reasons = because.map(describeReason).join('; ');
    if (command.kind === 'recordEvent') return `event ${command.reason} "${command.message}"`;
    this.#ids.set(`${pod.namespace}/${pod.name}`, command.id);
    const grace =
      command.gracePeriodSeconds === null ? '' : ` grace ${command.gracePeriodSeconds}s`;
    const escalated = command.kind === 'deletePod' && command.escalated ? ' escalated' : '';
    const confirm = command.confirm ? ' confirm' : '';
    const how = `${command.kind}${escalated}${grace}${confirm}`;
    return `${how} ${pod.namespace}/${pod.name} uid ${pod.uid} because ${reasons}`;
  }

  #explain(now: number, name: string): string[] {
    const explanation = this.#engine.explain(now, { kind: 'node', name });
    if (explanation?.kind !== 'node') return ['not known'];
    const taints = explanation.taints.map(
      ({ taint, start, startSource }) =>
        `${formatTaint(taint)} since ${seconds(start)} (${startSource})`,
    );
    const pods = explanation.pods.map(({ pod, decision, attempt, remaining }) => {
      const left = remaining === null ? '-' : seconds(remaining);
      const state = attempt ? ` ${attempt.kind}` : '';
      const because = decision.because.map(describeReason).join('; ');
      return `${pod.namespace}/${pod.name} ${decision.kind} ${left}${state}: ${because}`;
    });
    return [...taints, ...pods];
  }

  /** What policies and pauses come to; zeros are left out. */
  #counts(now: number): string[] {
    const { policies, pauses } = this.#engine.policyCounts(now);
    const counted = [...(policies ?? [])].map(([name, { tripped, lacks, ...numbers }]) => {
      const parts = Object.entries(numbers).flatMap(([what, n]) => (n > 0 ? [`${n} ${what}`] : []));
      return [
        `policy ${name}:`,
        ...parts,
        ...tripped.map((id) => `tripped ${id}`),
        ...lacks.map((right) => `lacks ${right}`),
      ].join(' ');
    });
    const paused = [...(pauses ?? [])].map(([name, { since, isOver, pods, held }]) => {
      const length = held === null ? 'no deadlines' : `${pods} pods for ${seconds(held)}`;
      return `pause ${name}: since ${seconds(since)} ${length}${isOver ? ', over' : ''}`;
    });
    return [...counted, ...paused, ...(policies ? [] : ['nobody goes by policies'])];
  }
}

function tellReport(report: Extract<Command, { kind: 'report' }>['report']): string {
  if (!('pod' in report)) return report.kind;
  const name = `${report.pod.namespace}/${report.pod.name}`;
  if (report.kind === 'retry') {
    const { kind, message } = report.setback;
    return `retry ${name} at ${seconds(report.at)} after attempt ${report.attempt}: ${kind} ${message}`;
  }
  if (report.kind === 'queued') {
    const { per, name: scope, limit, tripped, count } = report.hit;
    const until = report.until === null ? 'there is room' : seconds(report.until);
    return `held ${name} by ${limit} per ${per} ${scope}${tripped ? ' (tripped)' : ''} until ${until}${count ? `: ${describeCount(count)}` : ''}`;
  }
  const [from, to] = [report.from, report.to].map((at) => (at === null ? 'none' : seconds(at)));
  const because = report.because.map(describeReason).join('; ');
  const unanswered = report.unanswered ? ', maybe by a request without an answer' : '';
  return `deadline ${name} ${from} -> ${to} (${report.cause}) because ${because || 'it is gone'}${unanswered}`;
}

/** Every device is one of pool n1 of the driver gpu. */
function deviceEvent(verb: string, name: string, words: readonly string[]): Event {
  const [first = '', second = ''] = words;
  const isGone = first === 'gone';
  const [driver, pool] = ['gpu', 'n1'];
  switch (verb) {
    case 'rule': {
      if (isGone) return { kind: 'deviceTaintRuleDelete', name };
      const device = second === 'every' ? null : second;
      const selector = { driver: null, pool: null, device };
      const rule = { name, uid: name, generation: 1, selector, taint: readTaint(first) };
      return { kind: 'deviceTaintRuleUpsert', rule: { ...rule, progress: null } };
    }
    case 'slice': {
      if (isGone) return { kind: 'resourceSliceDelete', name };
      const devices = [{ name: first, taints: words.slice(1).map(readTaint) }];
      const slice = { name, driver, pool, generation: 1, devices };
      return { kind: 'resourceSliceUpsert', slice };
    }
    case 'claim': {
      const [namespace = '', claim = ''] = name.split('/');
      if (isGone) return { kind: 'resourceClaimDelete', namespace, name: claim };
      const at = words.indexOf('tolerates');
      const tolerations = at < 0 ? [] : readTolerations(words.slice(at + 1));
      const allocated = [{ request: 'r', driver, pool, device: first, tolerations }];
      const reservedFor = [after(words, 'of')?.split('/')[1] ?? ''];
      const known = { namespace, name: claim, uid: name, ownerUid: null };
      return { kind: 'resourceClaimUpsert', claim: { ...known, allocated, reservedFor } };
    }
    default:
      return {
        kind: 'deviceRights',
        hidden: name === 'none' ? [] : (name.split(',') as DeviceResource[]),
      };
  }
}

function readClaim(name: string): PodClaim {
  return { name, claim: name, origin: name === 'extended' ? 'extended' : 'named' };
}

function readOutcome(verb: string, words: readonly string[]): Outcome {
  if (verb === 'done' || verb === 'gone') return { kind: verb };
  if (verb === 'changed') return { kind: verb, message: words.join(' ') };
  if (verb === 'blocked') return { kind: verb, message: words.join(' '), retryAfter: null };
  const [status = '', ...message] = words;
  return {
    kind: 'failed',
    status: status === 'none' ? null : Number(status),
    message: message.join(' '),
    retryAfter: null,
  };
}

function readRecord(words: readonly string[]): Partial<Extract<Event, { kind: 'limitRecord' }>> {
  return words.length === 0 ? {} : JSON.parse(words.join(' '));
}

function readPolicy(words: readonly string[]): Partial<EvictionPolicy> {
  const { match, ...fields } = JSON.parse(words.join(' ') || '{}');
  return { ...fields, match: { ...policyOf('').match, ...match } };
}

function readPause(now: number, name: string, words: readonly string[]): EvictionPause {
  const list = (word: string): readonly string[] => after(words, word)?.split(',') ?? [];
  const [labels, until, since] = ['labels', 'until', 'since'].map((word) => after(words, word));
  return pauseOf(name, {
    since: since === undefined ? now : Number(since) * 1000,
    until: until === undefined ? null : Number(until) * 1000,
    scope: {
      zones: list('zones'),
      nodes: labels === undefined ? null : { matchLabels: readLabels(labels) },
      taintKeys: list('keys'),
      namespaces: list('namespaces'),
    },
  });
}

/** `a=b,c=d` */
function readLabels(text = ''): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(pairs.map((pair) => pair.split('=')));
}

const nodeOptions = ['zone', 'labels', 'deadline', 'starts', 'written', 'gap', 'drain'];

function readNode(name: string, words: readonly string[]): Node {
  const options = words.findIndex((word) => nodeOptions.includes(word));
  const taints = words.slice(0, options < 0 ? words.length : options).map(readTaint);
  const [start, deadline, zone, written] = [
    after(words, 'starts'),
    after(words, 'deadline'),
    after(words, 'zone'),
    after(words, 'written'),
  ];
  const [taint = '', at] = start?.split('@') ?? [];
  return {
    name,
    uid: name,
    taints,
    ...(words.includes('drain') && { drains: [readDrain(taints[0], after(words, 'drain'))] }),
    ...(zone !== undefined && { zone }),
    ...(words.includes('labels') && { labels: readLabels(after(words, 'labels')) }),
    ...(deadline !== undefined && { deadline: Number(deadline) * 1000 }),
    ...(written !== undefined && { taintsWrittenAt: Number(written) * 1000 }),
    ...(start !== undefined && {
      taintStarts: taint === 'none' ? {} : { [taint.replace('_', ' ')]: Number(at) * 1000 },
    }),
  };
}

function readDrain(taint: Taint | undefined, text = ''): WorkingDrain {
  const [id = '', heartbeat = ''] = text.split('=');
  return { id, heartbeat, by: 'ann', taint: taint ? formatTaint(taint) : '' };
}

function readTaint(text: string): Taint {
  const [spec = '', added] = text.split('@');
  return { ...parseTaint(spec), timeAdded: added === undefined ? null : Number(added) * 1000 };
}

function readTolerations(words: readonly string[]): readonly Toleration[] {
  const text =
    words
      .join(' ')
      .split(
        / (?:on|bound|terminating|mirror|daemonset|finished|optedout|down|grace|labels|marked|uses)\b/,
      )[0] ?? '';
  return text.split(' | ').map((entry) => {
    const [spec = '', time] = entry.split(' ');
    const tolerationSeconds = time === undefined ? null : Number(time);
    if (spec === 'all') {
      return { key: '', operator: 'Exists', value: '', effect: '', tolerationSeconds };
    }
    const { key, value, effect } = parseTaint(spec);
    return { key, operator: value === '' ? 'Exists' : 'Equal', value, effect, tolerationSeconds };
  });
}

function after(words: readonly string[], word: string): string | undefined {
  return words.includes(word) ? words[words.indexOf(word) + 1] : undefined;
}

function seconds(millis: number): string {
  return `${millis / 1000}s`;
}

/** Has these transcripts of testdata/eviction answered as they are written. */
export function itAnswersEvictions(names: string): void {
  itAnswers('eviction', runScript, names);
}
