import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { seededRandom, type User, VirtualClock } from '@taintmgr/sim-cluster';
import { serviceAccountUser } from '../../src/auth/authorizer.ts';
import { ApiServer } from '../../src/server/api-server.ts';
import type { WireCases } from './case.ts';
import { clusterObjectCases } from './cluster-objects.ts';
import { customResourceCases } from './custom-resources.ts';
import { deleteCases } from './deletes.ts';
import { evictionCases } from './evictions.ts';
import { Hand } from './hand.ts';
import { accessCases, eventAndLeaseCases } from './others.ts';
import { policyCases } from './policies.ts';
import { readCases } from './reads.ts';
import { absent, difference, Placeholders } from './recorded-values.ts';
import { writeCases } from './writes.ts';

// What a real kube-apiserver 1.36.2 answered, request by request, asked of this one.

const cases: WireCases = {
  ...readCases,
  ...writeCases,
  ...deleteCases,
  ...evictionCases,
  ...eventAndLeaseCases,
  ...accessCases,
  ...customResourceCases,
  ...clusterObjectCases,
  ...policyCases,
};

interface Exchange {
  readonly note?: string;
  readonly request?: {
    readonly method: string;
    readonly path: string;
    readonly query?: Readonly<Record<string, string>>;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly response?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
}

const admin = 'admin';
const users: Readonly<Record<string, User>> = {
  [admin]: { name: 'admin', groups: ['system:masters'], rules: [] },
  '<limitedtoken>': { ...serviceAccountUser('wire', 'limited'), uid: 'sa-limited-uid' },
  '<nobodytoken>': { name: 'nobody', groups: [], rules: [] },
};

/** A clock later than every time in the recordings. */
const now = Date.parse('2026-11-21T00:00:00Z');
/** Longer than a read waits for a version of the future. */
const patienceMs = 4000;
const comparedHeaders = ['retry-after', 'warning', 'x-content-type-options'] as const;

function authorized(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const sent = { authorization: `Bearer ${admin}`, ...headers };
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== absent));
}

for (const [file, wireCase] of Object.entries(cases)) {
  const text = readFileSync(new URL(`../testdata/wire/${file}.json`, import.meta.url), 'utf8');
  const { rule, exchanges }: { rule: string; exchanges: readonly Exchange[] } = JSON.parse(text);
  describe(`${file}: ${rule}`, () => {
    const clock = new VirtualClock(now);
    const tokens = file.startsWith('08-auth') ? { tokens: new Map(Object.entries(users)) } : {};
    const api = new ApiServer({ clock, random: seededRandom(1), ...tokens });
    const hand = new Hand(api, clock, wireCase.namespace);
    const placeholders = new Placeholders(wireCase.prepare?.(hand) ?? {});
    for (const [index, { note = '', request, response }] of exchanges.entries()) {
      if (!request || !response || wireCase.without?.[index] !== undefined) continue;
      it(`${index} ${request.method} ${request.path} ${note}`, () => {
        wireCase.each?.(hand, { note, path: request.path });
        wireCase.before?.[index]?.(hand);
        const answer = hand.client.send(request.method, request.path, {
          headers: authorized(request.headers),
          query: placeholders.fill(request.query ?? {}) as Record<string, string>,
          ...(request.body === undefined ? {} : { body: placeholders.fill(request.body) }),
        });
        if (!answer().ended) clock.advanceTo(clock.now() + patienceMs);
        const { status, headers, text } = answer();
        assert.equal(status, response.status, text);
        assert.equal(difference(response.body, text, placeholders), null, text);
        for (const name of comparedHeaders) {
          assert.equal(headers[name], response.headers[name], name);
        }
      });
    }
  });
}
