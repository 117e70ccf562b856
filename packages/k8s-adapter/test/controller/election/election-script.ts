import {
  Election,
  type ElectionEffect,
  type ElectionInput,
} from '../../../src/controller/election/election.ts';
import type { ExchangeInput } from '../../../src/proto/exchange.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { random } from '../../world/random.ts';

const epoch = Date.parse('2026-01-01T00:00:00Z');

/**
 * Runs a script against a candidate named `me` and answers the script with what came out, indented.
 * Lines are `SECONDS COMMAND …`; a command about an answer means the latest request, or another one
 * written `of ID`.
 */
export function runScript(script: string): string {
  const stage = new Stage();
  let output = '';
  for (const line of script.split('\n').filter((text) => text !== '')) {
    output += `${line}\n`;
    if (!line.startsWith('#')) output += stage.run(line);
  }
  return output;
}

class Stage {
  readonly #requests = new Map<string, ApiRequest>();
  #latest = '';
  #wake: number | null = null;
  readonly #election = new Election({
    lease: { namespace: 'kube-system', name: 'ctl' },
    identity: 'me',
    random: random(0.5),
  });

  run(line: string): string {
    const [seconds = '', ...words] = line.split(' ');
    const now = epoch + Number(seconds) * 1000;
    const of = words.indexOf('of');
    const id = of < 0 ? this.#latest : (words[of + 1] ?? '');
    let output = '';
    for (const input of this.#inputs(id, of < 0 ? words : words.slice(0, of))) {
      for (const effect of this.#election.handle(now, input)) output += this.#print(effect);
    }
    return output + this.#tellWake(now);
  }

  #tellWake(now: number): string {
    const wake = this.#election.nextWake();
    if (wake === this.#wake) return '';
    this.#wake = wake;
    const lead = this.#election.leads(now) ? ', leading' : '';
    return `    wake ${wake === null ? 'never' : (wake - epoch) / 1000}${lead}\n`;
  }

  #print(effect: ElectionEffect): string {
    if (effect.kind === 'send') {
      this.#latest = effect.id;
      this.#requests.set(effect.id, effect.request);
    }
    return `    ${describe(effect)}\n`;
  }

  #inputs(id: string, [command = '', ...words]: string[]): ElectionInput[] {
    switch (command) {
      case 'start':
      case 'stop':
      case 'tick':
        return [{ kind: command }];
      case 'lease':
        return answer(id, 200, leaseOf(words));
      case 'ok':
        return answer(id, 200, this.#written(id, words[0] ?? ''));
      case 'status':
        return answer(id, Number(words[0]), { message: words.slice(1).join(' ') });
      case 'body':
        return answer(id, 200, words.join(' '));
      case 'reset':
        return [{ kind: 'failed', id, message: 'read ECONNRESET' }];
      default:
        throw new Error(`unknown command ${command}`);
    }
  }

  /** What a server answers to the write: the object with its new version. */
  #written(id: string, resourceVersion: string): object {
    const object = JSON.parse(this.#requests.get(id)?.body ?? '{}');
    return { ...object, metadata: { ...object.metadata, uid: 'u1', resourceVersion } };
  }
}

/** `lease HOLDER RESOURCEVERSION RENEWED [DURATION]` */
function leaseOf([holder, resourceVersion, renewed, duration = '15']: string[]): object {
  const renewTime = time(`${renewed}s`);
  return {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name: 'ctl', namespace: 'kube-system', uid: 'u1', resourceVersion, labels: {} },
    spec: {
      holderIdentity: holder === 'nobody' ? '' : holder,
      leaseDurationSeconds: Number(duration),
      acquireTime: time('0s'),
      renewTime,
      leaseTransitions: 3,
      strategy: 'kept',
    },
  };
}

function time(seconds: string): string {
  return new Date(epoch + Number.parseFloat(seconds) * 1000).toISOString().replace('Z', '000Z');
}

function answer(id: string, status: number, body: object | string): ExchangeInput[] {
  const data = typeof body === 'string' ? body : JSON.stringify(body);
  return [
    { kind: 'head', id, status, headers: {} },
    { kind: 'chunk', id, data },
    { kind: 'end', id },
  ];
}

function describe(effect: ElectionEffect): string {
  switch (effect.kind) {
    case 'send':
      return `${effect.id} ${describeRequest(effect.request)}`;
    case 'abort':
      return `${effect.id} abort`;
    case 'leadership':
      return effect.held ? 'LEADS' : 'FOLLOWS';
    case 'event': {
      const { subject, type, reason, message } = effect.event;
      const about = `${subject.kind} ${subject.name} ${subject.uid}:${subject.resourceVersion}`;
      return `event ${type} ${reason} "${message}" about ${about}`;
    }
    case 'notice': {
      const { notice } = effect;
      if (notice.kind === 'leaderElected') return `elected ${notice.identity}`;
      if (notice.kind === 'leadershipLost') return `lost: ${notice.why}`;
      return `failing: ${notice.failure.status ?? 'no answer'}: ${notice.failure.message}`;
    }
  }
}

function describeRequest({ method, path, body }: ApiRequest): string {
  const short = path.replace('/apis/coordination.k8s.io/v1/namespaces/kube-system', '');
  if (body === null) return `${method} ${short}`;
  const { metadata, spec } = JSON.parse(body);
  const written = Object.values(spec).map((value) =>
    String(value === '' ? "''" : value).replace('2026-01-01T', ''),
  );
  return `${method} ${short} rv=${metadata.resourceVersion ?? 'none'} ${written.join(' ')}`;
}
