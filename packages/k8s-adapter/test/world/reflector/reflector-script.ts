import type { ExchangeInput } from '../../../src/proto/exchange.ts';
import {
  Reflector,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorOptions,
} from '../../../src/proto/reflector.ts';
import { random } from '../random.ts';

interface Item {
  readonly name: string;
  readonly uid: string;
  readonly rv: string;
}

/**
 * Runs a script against a reflector and answers the script with what came out, indented. Lines are
 * (after `0 list-only`, `0 streamed` or `0 may-be-absent`, where that is what it is about)
 * `SECONDS COMMAND …`; objects are written name:uid:resourceVersion; a command about an answer
 * means the latest request, or another one written `of ID`; `alive AGE` brings what was sent up to then.
 */
export function runScript(script: string): string {
  const world = new World();
  let output = '';
  for (const line of script.split('\n').filter((text) => text !== '')) {
    output += `${line}\n`;
    if (!line.startsWith('#')) output += world.run(line);
  }
  return output;
}

class World {
  #latest = '';
  #woken = '';
  #reflector = newReflector({ watch: true, streamLists: false });

  run(line: string): string {
    const [seconds = '', ...words] = line.split(' ');
    const now = Number(seconds) * 1000;
    const [command = ''] = words;
    if (command === 'may-be-absent') {
      this.#reflector = newReflector({ watch: true, streamLists: false, mayBeAbsent: true });
      return '';
    }
    if (command === 'may-be-forbidden') {
      this.#reflector = newReflector({ watch: true, streamLists: false, mayBeForbidden: true });
      return '';
    }
    if (command === 'list-only' || command === 'streamed') {
      const streamLists = command === 'streamed';
      this.#reflector = newReflector({ watch: streamLists, streamLists });
      return '';
    }
    const of = words.indexOf('of');
    const id = of < 0 ? this.#latest : (words[of + 1] ?? '');
    let output = '';
    for (const input of inputs(id, of < 0 ? words : words.slice(0, of))) {
      for (const effect of this.#reflector.handle(now, input)) output += this.#print(effect);
    }
    if (command === 'alive')
      output += `    complete as of ${(this.#reflector.heardAt ?? 0) / 1000}\n`;
    return output + this.#wake();
  }

  #print(effect: ReflectorEffect<Item>): string {
    if (effect.kind === 'send') this.#latest = effect.id;
    return `    ${describe(effect)}\n`;
  }

  /** The next wake, when a command changed it by more than hearing something does. */
  #wake(): string {
    const { state } = this.#reflector;
    const wake = this.#reflector.nextWake();
    const text = state === 'Waiting' ? `    wake ${(wake ?? 0) / 1000}\n` : '';
    const told = text !== this.#woken ? text : '';
    this.#woken = text;
    return told;
  }
}

type Kind = Pick<
  ReflectorOptions<Item>,
  'watch' | 'streamLists' | 'mayBeAbsent' | 'mayBeForbidden'
>;

function newReflector(kind: Kind): Reflector<Item> {
  return new Reflector<Item>({
    resource: 'pods',
    path: '/api/v1/pods',
    selectors: {},
    ...kind,
    random: random(0.5),
    project: (value) => {
      const { metadata } = value as { metadata: Item & { resourceVersion: string } };
      const { name, uid, resourceVersion } = metadata;
      return name.startsWith('ignored') ? null : { name, uid, rv: resourceVersion };
    },
  });
}

function inputs(id: string, [command = '', ...words]: string[]): ReflectorInput[] {
  switch (command) {
    case 'start':
    case 'stop':
    case 'tick':
      return [{ kind: command }];
    case 'page':
      return answer(id, 200, {}, listPage(words));
    case 'open':
      return [head(id, 200, {})];
    case 'event':
      return [watchLine(id, words[0] ?? '', objectOf(words[1] ?? ''))];
    case 'bookmark':
      return [watchLine(id, 'BOOKMARK', { metadata: { resourceVersion: words[0] } })];
    case 'list-end': {
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      return [watchLine(id, 'BOOKMARK', { metadata: { resourceVersion: words[0], annotations } })];
    }
    case 'error':
      return [watchLine(id, 'ERROR', status(words))];
    case 'raw':
      return [chunk(id, words.join(' ').replaceAll('\\n', '\n'))];
    case 'status': {
      const retryAfter = words.find((word) => word.startsWith('retry-after='))?.slice(12);
      const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
      return answer(id, Number(words[0]), headers, status(words.filter((w) => !w.includes('='))));
    }
    case 'body':
      return [head(id, 200, {}), chunk(id, words.join(' ')), { kind: 'end', id }];
    case 'end':
      return [{ kind: 'end', id }];
    case 'alive':
      return [{ kind: 'alive', id, age: Number(words[0]) * 1000 }];
    case 'reset':
      return [{ kind: 'failed', id, message: 'read ECONNRESET' }];
    default:
      throw new Error(`unknown command ${command}`);
  }
}

function listPage(words: readonly string[]): object {
  const [resourceVersion, ...rest] = words;
  const token = rest.find((word) => word.startsWith('continue='))?.slice(9);
  const items = rest.filter((word) => !word.startsWith('continue=')).map(objectOf);
  return {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion, continue: token },
    items,
  };
}

function objectOf(text: string): object {
  const [name, uid, resourceVersion] = text.split(':');
  return { metadata: { name, namespace: 'ns', uid, resourceVersion } };
}

function status([code, ...message]: readonly string[]): object {
  return { kind: 'Status', code: Number(code), message: message.join(' ') || `status ${code}` };
}

function answer(
  id: string,
  code: number,
  headers: Record<string, string>,
  body: object,
): ExchangeInput[] {
  return [head(id, code, headers), chunk(id, JSON.stringify(body)), { kind: 'end', id }];
}

function head(id: string, code: number, headers: Record<string, string>): ExchangeInput {
  return { kind: 'head', id, status: code, headers };
}

function watchLine(id: string, type: string, object: object): ExchangeInput {
  return chunk(id, `${JSON.stringify({ type, object })}\n`);
}

function chunk(id: string, data: string): ExchangeInput {
  return { kind: 'chunk', id, data };
}

function describe(effect: ReflectorEffect<Item>): string {
  switch (effect.kind) {
    case 'send':
      return `${effect.id} ${effect.request.method} ${effect.request.path}`;
    case 'abort':
      return `${effect.id} abort`;
    case 'upsert':
      return `upsert ${effect.item.name}:${effect.item.uid}:${effect.item.rv}`;
    case 'delete':
      return `delete ${effect.name}:${effect.uid}`;
    case 'synced':
      return 'synced';
    case 'notice':
      return describeNotice(effect.notice);
  }
}

function describeNotice(
  notice: Extract<ReflectorEffect<Item>, { kind: 'notice' }>['notice'],
): string {
  switch (notice.kind) {
    case 'listed':
      return `listed ${notice.objects}: ${notice.upserts} upserts, ${notice.deletes} deletes`;
    case 'watching':
      return `watching from ${notice.resourceVersion}`;
    case 'absent':
      return 'absent';
    case 'pagedLists':
      return 'lists in pages';
    case 'jsonOnly':
      return 'JSON from now on';
    case 'reconnecting': {
      const { failure, wait, next } = notice;
      return `${next} in ${wait / 1000}s: ${failure.status ?? 'no answer'}: ${failure.message}`;
    }
  }
}
