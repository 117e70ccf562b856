import type { Command, Config, LifecycleReport } from '@taintmgr/core';
import { describeHold, describeLifecycleReason } from '@taintmgr/core/lifecycle';
import type { NodeTaintRule } from '@taintmgr/core/policy';
import { pauseOf } from '../policy/objects.ts';
import { itAnswers } from '../transcripts.ts';
import { LifecycleWorld, type Mishap } from './lifecycle-world.ts';

// The language of the transcripts of nodes:
//
//   engine {"lifecycle": {...}}          at the top: options of the engine
//   zone a 3                             nodes a-1 to a-3, with kubelets that report
//   node a-4 a unreported                a node whose kubelet has not reported
//   pod web a-1                          a ready pod on a node
//   start | restart                      the process begins, or another one after it
//   stop a-1 a-2 | resume a-1 | lease-only a-1 | not-ready a-1
//   condition a-1 Disk True              a condition that somebody else reports
//   taint a-1 key:Effect | untaint a-1 | label a-1 key value | remove a-1
//   deaf | hearing | standstill 60s      the watches, the process
//   clock 3600s                          the cluster's clock is so far ahead of the engine's time
//   refuse 2 | answer-lost 1 | answer-late 1   the next so many writes; late: 504, and carried out
//   refuse labels | refuse rules         all writes of this kind, from now on
//   rule NAME {json} | rule NAME gone | pause NAME {json} | unpause NAME
//   to 90s                               lets time pass, and shows what happened
//   show zones | show a-1
//
// Under each line stands, indented, what the engine commanded and said, with the time.

/** Runs a script and answers it with what happened under each line. */
function runLifecycleScript(script: string): string {
  const [first = '', ...rest] = script.split('\n');
  const engine: Partial<Config> = first.startsWith('engine ') ? JSON.parse(first.slice(7)) : {};
  const run = new Run(engine);
  const lines = first.startsWith('engine ') ? rest : [first, ...rest];
  const output = lines.flatMap((line) => [line, ...run.line(line).map((text) => `    ${text}`)]);
  return [...(first.startsWith('engine ') ? [first] : []), ...output].join('\n');
}

class Run {
  readonly #world: LifecycleWorld;
  #told: string[] = [];
  readonly #mishaps: Mishap[] = [];
  readonly #refused = new Set<string>();

  constructor(engine: Partial<Config>) {
    this.#world = new LifecycleWorld({
      engine: { taintEviction: false, lifecycle: {}, ...engine },
      mishap: (command) => (this.#isRefused(command) ? 'refused' : (this.#mishaps.shift() ?? null)),
      onCommand: (at, command) => {
        const text = tell(command);
        if (text !== null) this.#told.push(`${(at / 1000).toFixed(2)} ${text}`);
      },
    });
  }

  line(line: string): readonly string[] {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const [verb = '', ...words] = line.split(' ');
    const shown = this.#do(verb, words);
    const told = this.#told;
    this.#told = [];
    return [...told, ...shown];
  }

  #do(verb: string, words: readonly string[]): readonly string[] {
    const world = this.#world;
    const [name = '', second = '', third = ''] = words;
    switch (verb) {
      case 'zone':
        for (let n = 1; n <= Number(second); n++) world.addNode(`${name}-${n}`, name);
        return [];
      case 'node':
        world.addNode(name, second, { reported: third !== 'unreported' });
        return [];
      case 'pod':
        world.addPod(name, second);
        return [];
      case 'start':
        world.sync();
        return [];
      case 'restart':
        world.restart();
        return [];
      case 'stop':
        for (const node of words) world.setKubelet(node, 'stopped');
        return [];
      case 'resume':
        for (const node of words) world.setKubelet(node, 'running');
        return [];
      case 'lease-only':
        world.setKubelet(name, 'leaseOnly');
        return [];
      case 'not-ready':
        world.setKubelet(name, 'running', 'False');
        return [];
      case 'condition':
        world.setCondition(name, second, third);
        return [];
      case 'taint': {
        const [key = '', effect = ''] = second.split(':');
        const taints = world.nodes.get(name)?.taints ?? [];
        world.changeNode(name, {
          taints: [...taints, { key, value: '', effect, timeAdded: null }],
        });
        return [];
      }
      case 'untaint':
        world.changeNode(name, { taints: [] });
        return [];
      case 'label':
        world.changeNode(name, { labels: { ...world.nodes.get(name)?.labels, [second]: third } });
        return [];
      case 'remove':
        world.removeNode(name);
        return [];
      case 'deaf':
      case 'hearing':
        world.setDeaf(verb === 'deaf');
        return [];
      case 'clock':
        world.setClock(seconds(name));
        return [];
      case 'standstill':
        world.standStill(seconds(name));
        return [];
      case 'refuse':
      case 'answer-lost':
      case 'answer-late':
        if (['labels', 'rules'].includes(name)) this.#refused.add(name);
        for (let n = 0; n < Number(name); n++) {
          this.#mishaps.push(mishapOf[verb]);
        }
        return [];
      case 'rule':
        world.tell(
          second === 'gone'
            ? { kind: 'taintRuleDelete', name }
            : { kind: 'taintRuleUpsert', rule: ruleOf(name, JSON.parse(words.slice(1).join(' '))) },
        );
        return [];
      case 'pause':
        world.tell({
          kind: 'pauseUpsert',
          pause: pauseOf(name, { ...JSON.parse(words.slice(1).join(' ')), since: world.now }),
        });
        return [];
      case 'unpause':
        world.tell({ kind: 'pauseDelete', name });
        return [];
      case 'to':
        world.runUntil(seconds(name));
        return [];
      case 'show':
        return name === 'zones' ? this.#showZones() : this.#showNode(name);
      default:
        throw new Error(`no such command: ${verb}`);
    }
  }

  #isRefused(command: Command): boolean {
    const isOfRules = command.kind === 'changeTaints' && command.owned !== undefined;
    const kind = isOfRules ? 'rules' : command.kind === 'setNodeLabels' ? 'labels' : '';
    return this.#refused.has(kind);
  }

  #showZones(): readonly string[] {
    return this.#world.engine.zones(this.#world.now).map((zone) => {
      const { name, state, ready, notReady, rate, hold, waiting, tainted } = zone;
      const held = hold ? `, ${describeHold(hold)}` : '';
      const queue = waiting.length > 0 ? `, waiting ${waiting.join(' ')}` : '';
      return `${name}: ${state}, ${ready} ready, ${notReady} not, rate ${rate}, tainted ${tainted}${queue}${held}`;
    });
  }

  #showNode(name: string): readonly string[] {
    const explanation = this.#world.engine.explain(this.#world.now, { kind: 'node', name });
    if (explanation?.kind !== 'node' || !explanation.health) return ['not known'];
    const { unreachableAt, taintAt, place, because } = explanation.health;
    const lost = unreachableAt === null ? '' : `, lost at ${unreachableAt / 1000}`;
    const taint = taintAt === null ? '' : `, taint at ${(taintAt / 1000).toFixed(2)}`;
    const queue = place === null ? '' : `, place ${place}`;
    const names = explanation.node.taints.map(({ key, effect }) => `${short(key)}:${effect}`);
    const taints = names.length > 0 ? names.join(' ') : 'no taints';
    return [`${taints}${lost}${queue}${taint}: ${because.map(describeLifecycleReason).join('; ')}`];
  }
}

const mishapOf = { refuse: 'refused', 'answer-lost': 'lost', 'answer-late': 'late' } as const;

/** Null for what the scripts do not look at. */
function tell(command: Command): string | null {
  switch (command.kind) {
    case 'changeTaints': {
      const add = command.add.map(({ key, effect }) => `+${short(key)}:${effect}`);
      const remove = command.remove.map(({ key, effect }) => `-${short(key)}:${effect}`);
      const owned = command.owned === undefined ? [] : [`note ${JSON.stringify(command.owned)}`];
      return `taints ${command.node.name} ${[...add, ...remove, ...owned].join(' ')}`;
    }
    case 'setNodeConditions': {
      const [reason] = command.conditions.map((condition) => condition.reason);
      return `conditions ${command.node.name} Unknown (${reason})`;
    }
    case 'setNodeLabels':
      return `labels ${command.node.name} ${JSON.stringify(command.labels)}`;
    case 'markPodNotReady':
      return `pod ${command.pod.name} not ready`;
    case 'recordNodeEvent':
      return `event ${command.reason} ${command.node.name}`;
    case 'recordEvent':
      return command.reporter === 'lifecycle'
        ? `event ${command.reason} ${command.pod.name}`
        : null;
    case 'report':
      return 'pod' in command.report || 'limit' in command.report
        ? null
        : tellReport(command.report);
    default:
      return null;
  }
}

function tellReport(report: LifecycleReport): string {
  switch (report.kind) {
    case 'zone':
      return `zone ${report.zone.name} ${report.from} -> ${report.zone.state}`;
    case 'zoneHold': {
      const { zone, hold, deadlines } = report;
      const pause = deadlines === null ? '' : `, deadlines ${deadlines}`;
      return `zone ${zone} ${hold ? `held: ${describeHold(hold)}` : 'goes on'}${pause}`;
    }
    case 'readinessHold': {
      const { hold } = report;
      if (!hold) return 'readiness held: no more';
      const of = hold.all ? 'all' : `zones ${hold.zones.join()} nodes ${hold.nodes.join()}`;
      return `readiness held: ${of}: ${hold.reason}`;
    }
    case 'nodeUnreachable':
      return `lost ${report.node.name}, heard of at ${report.heardAt / 1000}`;
    case 'writeFailed':
      return `failed ${report.write} of ${report.node.name}`;
    case 'podMarkFailed':
      return `failed to mark ${report.target.name}, attempt ${report.attempt}`;
    case 'ruleDryRun':
      return `rule ${report.rule} would ${report.change} its taint on ${report.node.name}`;
    case 'ruleLimit':
      return `rule ${report.rule} may not taint ${report.node.name} as well`;
  }
}

function short(key: string): string {
  return key.replace('node.kubernetes.io/', '');
}

/** `90s` in milliseconds. */
function seconds(text: string): number {
  const match = /^(\d+(?:\.\d+)?)s$/.exec(text);
  if (!match) throw new Error(`not a time: ${text}, e.g. 90s`);
  return Number(match[1]) * 1000;
}

/** A rule for all nodes, which acts at once unless it says otherwise. */
function ruleOf(name: string, fields: Partial<NodeTaintRule>): NodeTaintRule {
  return {
    name,
    uid: '',
    generation: 1,
    condition: 'Broken',
    status: 'True',
    holdsMs: 0,
    clearMs: 0,
    taint: { key: 'broken', value: '', effect: 'NoSchedule' },
    nodes: {},
    nodesMax: null,
    dryRun: false,
    ...fields,
  };
}

/** Has these transcripts of testdata/lifecycle answered as they are written. */
export function itAnswersNodes(names: string): void {
  itAnswers('lifecycle', runLifecycleScript, names);
}
