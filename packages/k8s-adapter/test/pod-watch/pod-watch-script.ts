import type { Event, Node, Pod } from '@taintmgr/core';
import { PodSource, type PodWatch } from '../../src/pod-watch/pod-source.ts';
import type { NewReflector } from '../../src/pod-watch/pod-streams.ts';
import type { SourceEffect } from '../../src/pod-watch/source.ts';
import { podFromJson } from '../../src/proto/convert.ts';
import { Reflector, type ReflectorInput } from '../../src/proto/reflector.ts';
import { listJson, podJson } from '../world/cluster-objects.ts';
import { random } from '../world/random.ts';

/**
 * Runs a script against the source of pods and answers the script with what came out, indented.
 * Lines are `SECONDS COMMAND …`; pods are written name@node; an answer names its request.
 *
 *     start | stop | tick | nodes-known
 *     taint NODE | silence NODE | well NODE | gone NODE
 *     heard NODE: as of when its pods are known
 *     count PODS | refuse ID | endless ID | list ID RV POD… | open ID | added ID RV POD | deleted ID RV POD | reset ID
 *
 * A list may end with `...100`, for as many more pods, of which no more is told than their number. By
 * node at most two nodes are read, for 10 s after they need it; calm has to last 60 s; a cluster
 * with 100 pods is large. The pod `self` is the one in which this runs. `0 mode tainted-nodes` is for one of any size, `0 lists 1` for one list at a time.
 */
export function runPodWatchScript(script: string): string {
  let world = new World('auto');
  let output = '';
  for (const line of script.split('\n').filter((text) => text !== '')) {
    output += `${line}\n`;
    if (line === '0 mode tainted-nodes') world = new World('tainted-nodes');
    else if (line === '0 lists 1') world = new World('auto', 1);
    else if (!line.startsWith('#')) output += world.run(line);
  }
  return output;
}

class World {
  readonly #source: PodSource;
  #wake: number | null = null;

  constructor(mode: PodWatch['mode'], listsMax = 2) {
    const times = { lingerMs: 10_000, calmMs: 60_000 };
    const options = { mode, podsMin: 100, nodesMax: 2, listsMax, ...times };
    const newReflector: NewReflector = (nodeName, id) => {
      const selectors = nodeName === null ? {} : { fieldSelector: `spec.nodeName=${nodeName}` };
      return new Reflector<Pod>({
        resource: 'pods',
        id,
        path: '/api/v1/pods',
        selectors,
        project: podFromJson,
        watch: true,
        random: random(0.5),
      });
    };
    this.#source = new PodSource(options, newReflector, { namespace: 'shop', name: 'self' });
  }

  run(line: string): string {
    const [seconds = '', command = '', ...words] = line.split(' ');
    const now = Number(seconds) * 1000;
    if (command === 'heard') return `    ${secondsOf(this.#source.heardAt(words[0] ?? ''))}\n`;
    const texts = this.#do(now, command, words).map(describe);
    const told = texts.filter((text) => !text.includes(' more'));
    const more = told.length < texts.length ? [`${texts.length - told.length} more`] : [];
    return [...told, ...more].map((text) => `    ${text}\n`).join('') + this.#wakeText(now);
  }

  #do(now: number, command: string, words: readonly string[]): readonly (Event | SourceEffect)[] {
    if (command === 'nodes-known') return this.#source.nodesSynced(now);
    const event = nodeEvent(command, words[0] ?? '');
    if (event) return this.#source.follow(now, event);
    return inputs(command, words).flatMap((input) => this.#source.handle(now, input));
  }

  /** The next instant at which something ends by itself; what silences are given is left out. */
  #wakeText(now: number): string {
    const wake = this.#source.nextWake();
    const isSilence = wake !== null && wake - now >= 30_000 && this.#wake !== wake;
    const text =
      wake === null || isSilence || this.#wake === wake ? '' : `    wake ${wake / 1000}\n`;
    this.#wake = wake;
    return text;
  }
}

function secondsOf(instant: number | null): string {
  return instant === null ? 'not known' : String(instant / 1000);
}

function nodeEvent(command: string, name: string): Event | null {
  const taint = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: null };
  const node = (more: Partial<Node>): Event => {
    return { kind: 'nodeUpsert', node: { name, uid: name, taints: [], ...more } };
  };
  switch (command) {
    case 'taint':
      return node({ taints: [taint] });
    case 'silence':
      return node({ conditions: [{ ...unknownReady }] });
    case 'well':
      return node({});
    case 'gone':
      return { kind: 'nodeDelete', name };
    default:
      return null;
  }
}

const unknownReady = {
  type: 'Ready',
  status: 'Unknown',
  reason: '',
  message: '',
  heartbeatAt: null,
  transitionAt: null,
} as const;

function inputs(command: string, [id = '', rv = '', ...pods]: readonly string[]): ReflectorInput[] {
  switch (command) {
    case 'start':
    case 'stop':
    case 'tick':
      return [{ kind: command }];
    case 'count':
      return answer('pods.count/1', 200, {
        ...listJson('Pod', '1', { metadata: { name: 'a' } }),
        metadata: { resourceVersion: '1', continue: 'more', remainingItemCount: Number(id) - 1 },
      });
    case 'refuse':
      return answer(id, 500, { message: 'no' });
    case 'endless':
      return [
        { kind: 'head', id, status: 200, headers: {} },
        { kind: 'chunk', id, data: ' '.repeat(17 * 1024 * 1024) },
      ];
    case 'list':
      return answer(id, 200, listJson('Pod', rv, ...pods.flatMap((pod) => podsOf(pod, rv))));
    case 'open':
      return [{ kind: 'head', id, status: 200, headers: {} }];
    case 'added':
    case 'deleted': {
      const object = podOf(pods[0] ?? '', rv);
      const data = `${JSON.stringify({ type: command.toUpperCase(), object })}\n`;
      return [{ kind: 'chunk', id, data }];
    }
    case 'reset':
      return [{ kind: 'failed', id, message: 'reset' }];
    default:
      throw new Error(`no command ${command}`);
  }
}

function answer(id: string, status: number, body: object): ReflectorInput[] {
  return [
    { kind: 'head', id, status, headers: {} },
    { kind: 'chunk', id, data: JSON.stringify(body) },
    { kind: 'end', id },
  ];
}

/** `...100` is as many more pods, on other nodes. */
function podsOf(text: string, rv: string): object[] {
  const more = /^\.\.\.(\d+)$/.exec(text)?.[1];
  if (more === undefined) return [podOf(text, rv)];
  return Array.from({ length: Number(more) }, (_, index) => podOf(`more${index}@other`, rv));
}

function podOf(text: string, rv: string): object {
  const [name = '', nodeName = ''] = text.split('@');
  return podJson(name, nodeName, rv);
}

function describe(effect: Event | SourceEffect): string {
  switch (effect.kind) {
    case 'send': {
      const { searchParams } = new URL(effect.request.path, 'http://x');
      const kind = searchParams.has('watch') ? 'watch' : 'list';
      const which = searchParams.get('fieldSelector') ?? 'all';
      const limit = searchParams.get('limit') === '1' ? ' limit=1' : '';
      return `${effect.id} ${kind} ${which}${limit}`;
    }
    case 'abort':
      return `abort ${effect.id}`;
    case 'podUpsert':
      return `podUpsert ${effect.pod.name}@${effect.pod.nodeName}`;
    case 'podDelete':
      return `podDelete ${effect.uid.replace('uid-', '')}`;
    case 'podViews': {
      const views = Object.entries(effect.nodes).map(([name, view]) => ` ${name}=${view}`);
      return `podViews others=${effect.others}${views.join('')}`;
    }
    case 'notice':
      return describeNotice(effect.notice);
    default:
      return effect.kind;
  }
}

function describeNotice(notice: Extract<SourceEffect, { kind: 'notice' }>['notice']): string {
  if (notice.kind === 'podScope') {
    return `notice podScope ${notice.scope} ${notice.nodes} nodes, ${notice.pods ?? '?'} pods`;
  }
  if (notice.kind === 'unreadable') return `notice unreadable ${notice.object}`;
  const { kind, nodeName } = notice;
  const wait = notice.kind === 'reconnecting' ? `, ${notice.next} in ${notice.wait / 1000}` : '';
  return `notice ${kind}${nodeName === undefined ? '' : ` ${nodeName}`}${wait}`;
}
