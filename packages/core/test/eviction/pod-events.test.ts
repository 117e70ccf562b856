import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makePod } from '@taintmgr/core';
import {
  interceptedReason,
  interceptionEvent,
  interceptionIn,
  interceptionNews,
  interceptionRepeatMs,
} from '../../src/eviction/pod-events.ts';

const message = 'admission webhook "e.kubevirt.io" denied the request: it is being moved';
const setback = { kind: 'failed', status: 429, message, retryAfter: null } as const;

it('tells of a webhook that keeps a pod once, and again while that lasts', () => {
  const news = interceptionNews(0, undefined, setback);
  assert.deepEqual(news, { message, at: 0 });
  assert.equal(interceptionNews(interceptionRepeatMs - 1, news, setback), null);
  assert.deepEqual(interceptionNews(interceptionRepeatMs, news, setback)?.at, interceptionRepeatMs);
  const other = message.replace('moved', 'copied');
  assert.equal(interceptionNews(1, news, { ...setback, message: other })?.message, other);
  assert.equal(interceptionNews(1, undefined, { ...setback, message: 'boom' }), null);
});

it('tells of a policy that refuses in the same way, and of missing rights never', () => {
  const by =
    "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
  const denied = { ...setback, status: 422, message: by };
  const news = interceptionNews(0, undefined, denied);
  assert.deepEqual(news, { message: by, at: 0 });
  assert.ok(news);
  const event = interceptionEvent(makePod({ namespace: 'shop', name: 'web' }), news);
  assert.equal(event.message, `Pod shop/web is refused by a policy: ${by}`);
  assert.equal(interceptionIn(event.reason, event.message), by);
  const rights = 'pods "web" is forbidden: User "u" cannot create resource "pods/eviction"';
  assert.equal(interceptionNews(0, undefined, { ...denied, status: 403, message: rights }), null);
});

it('reads from its Event what the webhook said', () => {
  const event = interceptionEvent(makePod({ name: 'web' }), { message, at: 0 });
  assert.equal(interceptionIn(event.reason, event.message), message);
  assert.equal(interceptionIn('TaintManagerEviction', event.message), null);
  assert.equal(interceptionIn(interceptedReason, 'something else'), null);
});
