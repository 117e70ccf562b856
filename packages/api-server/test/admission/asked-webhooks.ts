import type {
  CallWebhook,
  WebhookCall,
  WebhookOutcome,
} from '../../src/admission/webhooks/call.ts';
import { type Fixture, fixture, podNamed } from '../world/api-fixture.ts';

export const configurations =
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
export const shop = '/api/v1/namespaces/shop/pods';
/** Configurations are known after a few milliseconds. */
const inForceMs = 10;

/** The request of a review. */
type Reviewed = Readonly<Record<string, unknown>> & { readonly uid: string };

/** What a webhook answers: its response without the uid, or something else altogether. */
export type Answering = (request: Reviewed) => object | { readonly outcome: WebhookOutcome };

export interface WithWebhooks extends Fixture {
  /** What was asked, in order. */
  readonly asked: Reviewed[];
  readonly calls: WebhookCall[];
}

export const evictions = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['pods/eviction'],
};

export const webhook = (name: string, more: object = {}): object => ({
  name,
  clientConfig: { url: `https://10.9.8.7:9443/${name}` },
  rules: [evictions],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});

export const configuration = (name: string, ...webhooks: readonly object[]): object => ({
  metadata: { name },
  webhooks,
});

export const eviction = (name = 'web', more: object = {}): object => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace: 'shop' },
  ...more,
});

/** A server with a pod `shop/web` and webhooks that answer like this after `afterMs`. */
export function withWebhooks(
  answering: Answering,
  webhooks: readonly object[] = [webhook('evictions.example.com')],
  afterMs = 0,
): WithWebhooks {
  const asked: Reviewed[] = [];
  const calls: WebhookCall[] = [];
  const call: CallWebhook = (one, done) => {
    calls.push(one);
    const { request } = JSON.parse(one.body) as { readonly request: Reviewed };
    asked.push(request);
    const answer = (): void => done(outcomeOf(answering(request), request.uid));
    if (afterMs === 0) {
      answer();
      return () => {};
    }
    const timer = made.clock.after(afterMs, answer);
    return () => timer.cancel();
  };
  const made = fixture({ callWebhook: call });
  made.api.create('namespaces', { metadata: { name: 'shop', labels: { tier: 'gold' } } });
  made.api.create('pods', podNamed('web', {}, { namespace: 'shop', labels: { app: 'web' } }));
  const { status, text } = made.client.post(configurations, configuration('c', ...webhooks));
  if (status !== 201) throw new Error(text);
  made.pass(inForceMs);
  return { ...made, asked, calls };
}

function outcomeOf(answer: ReturnType<Answering>, uid: string): WebhookOutcome {
  if ('outcome' in answer) return answer.outcome;
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
  const body = JSON.stringify({ ...review, response: { uid, ...answer } });
  return { kind: 'answered', status: 200, contentType: 'application/json', body };
}
