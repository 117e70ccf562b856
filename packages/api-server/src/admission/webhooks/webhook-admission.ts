// Asks the validating webhooks of the cluster about changes, all that a change concerns at once.
import type {
  Admission,
  AdmissionRequest,
  Clock,
  Store,
  Writer,
} from '@taintmgr/sim-cluster/server';
import {
  dryRunUnsupported,
  forbidden,
  type Random,
  randomUid,
  type Said,
  Unanswered,
  type WebhookAnswers,
  webhookFailed,
} from '@taintmgr/sim-cluster/server';
import { evaluateConditions } from '../evaluate.ts';
import { isAdmissionConfiguration } from '../match.ts';
import type { PolicyAdmission } from '../policy-admission.ts';
import { addressOf } from './address.ts';
import type { CallWebhook, WebhookOutcome } from './call.ts';
import { Configurations, type Webhook } from './configurations.ts';
import { readAnswer, reviewText } from './review.ts';

export interface WebhookAdmissionOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** For the uids of reviews. */
  readonly random: Random;
  /** Knows of namespaces, and of who may do what. */
  readonly policies: PolicyAdmission;
  readonly call: CallWebhook;
}

/** One webhook that a request concerns, and the request as it is shown to it. */
interface Question {
  readonly key: string;
  readonly webhook: Webhook;
  readonly request: AdmissionRequest;
}

const certificates = /^[\s\S]*-----BEGIN CERTIFICATE-----/;

export class WebhookAdmission implements Admission {
  readonly #options: WebhookAdmissionOptions;
  readonly #configurations: Configurations;

  constructor(options: WebhookAdmissionOptions) {
    this.#options = options;
    this.#configurations = new Configurations(options.store, options.clock);
  }

  /** Whether there is nobody to ask. */
  get isEmpty(): boolean {
    return this.#configurations.isEmpty;
  }

  /** Throws Unanswered while somebody has not been asked. */
  judge(request: AdmissionRequest, writer: Writer): void {
    const { answers } = writer;
    // Parts of the cluster write at once, and do not wait for anybody.
    if (!answers || this.isEmpty || isAdmissionConfiguration(request)) return;
    const questions = this.#questions(request, writer);
    const open = questions.filter(({ key }) => answers.get(key) === undefined);
    if (open.length > 0) {
      throw new Unanswered((done) => this.#askAll(open, writer, answers, done));
    }
    const said = answers.among(new Set(questions.map(({ key }) => key)));
    for (const { warnings } of said) for (const text of warnings) writer.warn(text);
    for (const { refusal } of said) if (refusal) throw refusal;
  }

  #questions(request: AdmissionRequest, writer: Writer): readonly Question[] {
    return this.#configurations.all().flatMap((webhook) => {
      if ((webhook.constraints.resourceRules ?? []).length === 0) return [];
      const shown = this.#options.policies.shownTo(webhook.constraints, request);
      if (!shown || !this.#isMeant(webhook, shown, writer)) return [];
      return [{ key: keyOf(webhook, shown), webhook, request: shown }];
    });
  }

  /** Whether its conditions hold; one that fails refuses the request, or is a no. */
  #isMeant(webhook: Webhook, request: AdmissionRequest, writer: Writer): boolean {
    const { conditions, ignoresFailures } = webhook;
    if (conditions.length === 0) return true;
    const bindings = { ...this.#options.policies.bindings(request, writer), namespaceObject: null };
    const held = evaluateConditions(conditions, bindings);
    if (typeof held === 'boolean') return held;
    if (ignoresFailures) return false;
    throw forbidden(request.resource, request.name, held);
  }

  #askAll(
    questions: readonly Question[],
    writer: Writer,
    answers: WebhookAnswers,
    done: () => void,
  ): () => void {
    let left = questions.length;
    const cancels = questions.map((question) =>
      this.#ask(question, writer, (said) => {
        answers.set(question.key, said);
        left -= 1;
        if (left === 0) done();
      }),
    );
    return () => {
      for (const cancel of cancels) cancel();
    };
  }

  /** Calls one, for as long as it has; `hear` is called once, unless it is cancelled. */
  #ask({ webhook, request }: Question, writer: Writer, hear: (said: Said) => void): () => void {
    const { store, clock, random, call } = this.#options;
    if (request.dryRun && !webhook.isWithoutEffect) {
      hear({ refusal: dryRunUnsupported(webhook.name), warnings: [] });
      return () => {};
    }
    const uid = randomUid(random);
    const address = addressOf(webhook.address, webhook.timeoutMs, store);
    let isOver = false;
    let giveUp = (): void => {};
    const settle = (outcome: WebhookOutcome): void => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      hear(this.#read(webhook, uid, withUrl(address.url, outcome)));
    };
    const timer = clock.after(webhook.timeoutMs, () => {
      giveUp();
      settle({ kind: 'failed', why: 'context deadline exceeded' });
    });
    if ('why' in address) settle({ kind: 'failed', why: address.why });
    else {
      const { caBundle } = webhook.address;
      const ca = caBundle ? Buffer.from(caBundle, 'base64').toString() : null;
      if (ca !== null && !certificates.test(ca)) {
        settle({ kind: 'failed', why: 'unable to load root certificates: no valid certificate' });
      } else {
        giveUp = call({ ...address, ca, body: reviewText(uid, webhook, request, writer) }, settle);
      }
    }
    return () => {
      isOver = true;
      timer.cancel();
      giveUp();
    };
  }

  /** An answer that cannot be used stands against the request where its policy says so. */
  #read(webhook: Webhook, uid: string, outcome: WebhookOutcome): Said {
    const said = readAnswer(webhook, uid, outcome);
    if (typeof said !== 'string') return said;
    const refusal = webhook.ignoresFailures ? null : webhookFailed(webhook.name, said);
    return { refusal, warnings: [] };
  }
}

function withUrl(url: string, outcome: WebhookOutcome): WebhookOutcome {
  if (outcome.kind === 'answered') return outcome;
  return { kind: 'failed', why: `Post ${JSON.stringify(url)}: ${outcome.why}` };
}

/** What is asked again only when it is another state of the object. */
function keyOf({ id }: Webhook, request: AdmissionRequest): string {
  const { operation, resource, subresource, namespace, object, oldObject } = request;
  const { name = '', resourceVersion = '' } = (oldObject ?? object)?.metadata ?? {};
  const what = [operation, resource.group, resource.plural, subresource, namespace, name];
  return [id, ...what, resourceVersion].join('\n');
}
