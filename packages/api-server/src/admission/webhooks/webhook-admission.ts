// Asks the validating webhooks of the cluster about changes, all that a change concerns at once.
import {
  type Admission,
  type AdmissionRequest,
  type Clock,
  deniedByWebhook,
  dryRunUnsupported,
  forbidden,
  isList,
  isObject,
  type Json,
  type KubeObject,
  type Random,
  randomUid,
  type Said,
  type Store,
  Unanswered,
  unexpectedStatus,
  type WebhookAnswers,
  type WebhookStatus,
  type Writer,
  webhookFailed,
} from '@taintmgr/sim-cluster/server';
import type { MatchResources } from '../../policy/match-resources.ts';
import type { ClientConfig, ServiceReference } from '../../policy/webhook-address.ts';
import type { WebhookSpec } from '../../policy/webhooks.ts';
import { requestJson } from '../bindings.ts';
import { compileExpression, type Expression } from '../compiled-policy.ts';
import { evaluateConditions } from '../evaluate.ts';
import { LaggingView } from '../lagging-view.ts';
import { isAdmissionConfiguration } from '../match.ts';
import type { PolicyAdmission } from '../policy-admission.ts';
import type { CallWebhook, WebhookCall, WebhookOutcome } from './call.ts';

// The webhooks that are asked: those of the configurations that were stored a moment ago.

const resource = 'validatingwebhookconfigurations';

/** A webhook ready to be asked. */
interface Webhook {
  /** An id that is unique even where two webhooks share a name. */
  readonly id: string;
  readonly name: string;
  readonly address: ClientConfig;
  readonly constraints: MatchResources;
  readonly conditions: readonly Expression[];
  /** True if the request passes where the webhook cannot be asked. */
  readonly ignoresFailures: boolean;
  /** True if the webhook may be asked about a dry run. */
  readonly isWithoutEffect: boolean;
  readonly timeoutMs: number;
  /** The version of AdmissionReview that it is asked in. */
  readonly version: 'v1' | 'v1beta1';
}

class Configurations {
  readonly #view: LaggingView;
  /** Read and compiled once for each stored state. */
  readonly #read = new WeakMap<KubeObject, readonly Webhook[]>();

  constructor(store: Store, clock: Clock) {
    this.#view = new LaggingView(store, clock, resource);
  }

  /** True if no webhook is configured. */
  get isEmpty(): boolean {
    return this.#view.isEmpty;
  }

  /** By the names of their configurations, then in the order in which they stand there. */
  all(): readonly Webhook[] {
    return this.#view
      .list('')
      .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
      .flatMap((configuration) => this.#webhooksOf(configuration));
  }

  #webhooksOf(configuration: KubeObject): readonly Webhook[] {
    const known = this.#read.get(configuration);
    if (known) return known;
    const specs: readonly WebhookSpec[] = configuration.webhooks ?? [];
    const webhooks = specs.map((spec, at) => ready(`${configuration.metadata.uid}/${at}`, spec));
    this.#read.set(configuration, webhooks);
    return webhooks;
  }
}

function ready(id: string, spec: WebhookSpec): Webhook {
  const { name, clientConfig, rules = [], matchPolicy, namespaceSelector, objectSelector } = spec;
  const versions = spec.admissionReviewVersions ?? [];
  return {
    id,
    name,
    address: clientConfig,
    constraints: { resourceRules: rules, matchPolicy, namespaceSelector, objectSelector },
    conditions: (spec.matchConditions ?? []).map(({ expression }) =>
      compileExpression(expression, { params: false, authorizer: true }),
    ),
    ignoresFailures: spec.failurePolicy === 'Ignore',
    isWithoutEffect: spec.sideEffects === 'None' || spec.sideEffects === 'NoneOnDryRun',
    timeoutMs: spec.timeoutSeconds * 1000,
    version: versions.find((version) => version === 'v1' || version === 'v1beta1') ?? 'v1',
  };
}

// An AdmissionReview: what a webhook is asked, and what its answer means.

const group = 'admission.k8s.io';

/** The body of the request to a webhook. */
function reviewText(
  uid: string,
  { version }: Webhook,
  request: AdmissionRequest,
  writer: Writer,
): string {
  const { object, oldObject } = request;
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: `${group}/${version}`,
    request: { uid, ...(requestJson(request, writer) as object), object, oldObject },
  });
}

interface Response {
  readonly uid?: Json;
  readonly allowed?: Json;
  readonly status?: WebhookStatus;
  readonly warnings?: readonly string[];
  readonly patch?: Json;
  readonly patchType?: Json;
}

/**
 * The answer of a webhook, or the text that says why it cannot be used, in the words of the real
 * server.
 */
function readAnswer(webhook: Webhook, uid: string, outcome: WebhookOutcome): Said | string {
  if (outcome.kind === 'failed') return `failed to call webhook: ${outcome.why}`;
  const isFailure = outcome.status < 200 || outcome.status > 299;
  const review = isFailure ? failureIn(outcome) : read(webhook, outcome);
  if (typeof review === 'string') return `failed to call webhook: ${review}`;
  const fault = faultOf(webhook, uid, review);
  if (fault !== null) return `received invalid webhook response: ${fault}`;
  const response = review.response as Response;
  const warnings = (response.warnings ?? []).map(String);
  const refusal =
    response.allowed === true ? null : deniedByWebhook(webhook.name, response.status ?? {});
  return { refusal, warnings };
}

type JsonObject = { readonly [member: string]: Json };

type Answered = Extract<WebhookOutcome, { readonly kind: 'answered' }>;

/** The words of a Status, where the failure has one. */
function failureIn({ status, contentType, body }: Answered): string {
  const isText = contentType === '' || contentType.startsWith('text/');
  const value = parsed(body);
  const isStatus = isObject(value) && value.kind === 'Status' && typeof value.message === 'string';
  return isStatus
    ? String(value.message)
    : unexpectedStatus(status, isText ? body.trim() : 'unknown');
}

/** The review in the answer, or the text that says why it is none. */
function read({ version }: Webhook, { status, contentType, body }: Answered): JsonObject | string {
  if (body === '') {
    return `0-length response with status code: ${status} and content type: ${contentType}`;
  }
  const value = parsed(body);
  if (!isObject(value)) {
    return `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeNameOf(value)} into Go value of type ${anyKind}`;
  }
  const { kind = '', apiVersion = '', response } = value;
  const isReview = kind === 'AdmissionReview' && String(apiVersion).startsWith(`${group}/`);
  if (kind !== '' && !isReview) {
    return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"`;
  }
  const given = String(apiVersion).slice(group.length + 1);
  if (kind !== '' && given !== version) {
    return `converting (${given}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`;
  }
  const allowed = isObject(response) ? (response.allowed ?? false) : false;
  if (typeof allowed !== 'boolean') {
    return `json: cannot unmarshal ${typeNameOf(allowed)} into Go struct field AdmissionResponse.response.allowed of type bool`;
  }
  return value;
}

/** A body that is no JSON is read as YAML, which makes most bodies a text. */
function parsed(body: string): Json {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return body;
  }
}

const anyKind =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function typeNameOf(value: Json): string {
  return isList(value) ? 'array' : isObject(value) ? 'object' : typeof value;
}

/** v1beta1 checked neither the kind nor the uid. */
function faultOf({ version }: Webhook, uid: string, review: JsonObject): string | null {
  const { response } = review;
  if (!isObject(response)) return 'webhook response was absent';
  if (version === 'v1beta1') return null;
  if (response.uid !== uid) {
    return `expected response.uid="${uid}", got ${JSON.stringify(response.uid ?? '')}`;
  }
  const kind = (of: JsonObject): string => `${of.apiVersion ?? '/'}, Kind=${of.kind ?? ''}`;
  const expected = { apiVersion: `${group}/v1`, kind: 'AdmissionReview' };
  if (kind(review) !== kind(expected)) {
    return `expected webhook response of ${kind(expected)}, got ${kind(review)}`;
  }
  if (response.patch) return 'validating webhook may not return response.patch';
  if (response.patchType) return 'validating webhook may not return response.patchType';
  return null;
}

// Finds the address of a webhook: its URL, or an endpoint behind its Service.

type WebhookAddress = Pick<WebhookCall, 'url' | 'host' | 'port' | 'serverName'>;

/** An address that cannot be resolved, in the words of a client. */
interface Unresolved {
  readonly url: string;
  readonly why: string;
}

const httpsPort = 443;

interface Port {
  readonly name?: string;
  readonly port: number;
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean };
}

/** Finds it; the URL tells the webhook how long it has. */
function addressOf(
  { url, service }: ClientConfig,
  timeoutMs: number,
  store: Store,
): WebhookAddress | Unresolved {
  const query = `?timeout=${timeoutMs / 1000}s`;
  if (service) return behindService(service, query, store);
  const { hostname, port, pathname, host } = new URL(url ?? '');
  const plain = hostname.replace(/^\[|\]$/g, '');
  return {
    url: `https://${host}${withoutSlash(pathname)}${query}`,
    host: plain,
    port: Number(port || httpsPort),
    serverName: plain,
  };
}

function withoutSlash(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/**
 * Returns the first ready endpoint of a Service, as kube-proxy would choose one. Without one it
 * returns the cluster address, where no server listens.
 */
function behindService(
  { namespace, name, path = '', port }: ServiceReference,
  query: string,
  store: Store,
): WebhookAddress | Unresolved {
  const serverName = `${name}.${namespace}.svc`;
  const url = `https://${serverName}:${port}${withoutSlash(path) || '/'}${query}`;
  const service = store.get('services', namespace, name);
  if (!service) return { url, why: `service "${name}" not found` };
  const ports: readonly Port[] = service.spec.ports ?? [];
  const found = ports.find((one) => one.port === port);
  if (!found) return { url, why: `no service port ${port} found for service "${name}"` };
  const endpoint = endpointOf(service, found, store);
  const own = { host: service.spec.clusterIP ?? '', port };
  return { url, serverName, ...(endpoint ?? own) };
}

function endpointOf(
  { metadata: { namespace = '', name } }: KubeObject,
  { name: portName = '' }: Port,
  store: Store,
): { readonly host: string; readonly port: number } | null {
  for (const slice of store.collection('endpointslices').list(namespace)) {
    if (slice.metadata.labels?.['kubernetes.io/service-name'] !== name) continue;
    const ports: readonly Port[] = slice.ports ?? [];
    const port = ports.find((one) => (one.name ?? '') === portName)?.port;
    const endpoints: readonly Endpoint[] = slice.endpoints ?? [];
    const host = endpoints.find(({ conditions }) => conditions?.ready !== false)?.addresses[0];
    if (host !== undefined && port !== undefined) return { host, port };
  }
  return null;
}

export interface WebhookAdmissionOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** For the uids of reviews. */
  readonly random: Random;
  /** Knows the namespaces and the rights of users. */
  readonly policies: PolicyAdmission;
  readonly call: CallWebhook;
}

/** A webhook that a request concerns, and the request as the webhook gets it. */
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

  /** True if no webhook is configured. */
  get isEmpty(): boolean {
    return this.#configurations.isEmpty;
  }

  /** Throws Unanswered while a webhook has yet to be asked. */
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

  /** True if the match conditions hold. One that fails refuses the request, or counts as false. */
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

/** The key of one answer: the webhook is asked again only for another state of the object. */
function keyOf({ id }: Webhook, request: AdmissionRequest): string {
  const { operation, resource, subresource, namespace, object, oldObject } = request;
  const { name = '', resourceVersion = '' } = (oldObject ?? object)?.metadata ?? {};
  const what = [operation, resource.group, resource.plural, subresource, namespace, name];
  return [id, ...what, resourceVersion].join('\n');
}
