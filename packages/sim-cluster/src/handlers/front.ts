// The interface of the layer between real clients and a cluster. packages/api-server implements it;
// a simulation has no front.
import { type ApiError, notAcceptable, unsupportedPatchType } from '../objects/errors.ts';
import type { Json } from '../objects/kube-object.ts';
import type { Printer, Resource } from '../resources/resource.ts';
import {
  type Answer,
  errorReply,
  jsonWatch,
  type Reply,
  textReply,
  type WatchFormat,
} from '../wire/answer.ts';
import type { ApiRequest } from '../wire/exchange.ts';
import type { Representation } from '../wire/negotiation.ts';
import type { Admission, User } from '../write/admission.ts';
import type { Backend } from '../write/backend.ts';
import type { WebhookAnswers } from '../write/webhook-answers.ts';
import type { DialNode } from './node-proxy.ts';
import type { RequestInfo, ResourcePath } from './request.ts';
import type { Watchers } from './watchers.ts';

/** A request on its way to its handler. */
export interface Call {
  /** The request as it came in, with its body in JSON. */
  readonly request: ApiRequest;
  /** The request line, taken apart. */
  readonly info: RequestInfo;
  /** The sender of the request. */
  readonly user: User;
  /** The answers of webhooks to the request so far. */
  readonly answers: WebhookAnswers;
  /** The forms of bodies and answers beside JSON. */
  readonly formats: Formats;
}

/** The call of a handler: a request whose resource is known and allowed. */
export interface ResourceCall extends Call {
  /** The store and the dependencies of every write. */
  readonly backend: Backend;
  /** The resource that the path names, in the version that it names. */
  readonly resource: Resource;
  /** The path, taken apart. */
  readonly path: ResourcePath;
  /** Connects to a kubelet, for `nodes/NAME/proxy`. */
  readonly dialNode: DialNode;
  /** The list of open watches, which the call joins if it is one. */
  readonly watchers: Watchers;
}

/** A server as its front sees it. */
export type Server = Omit<Backend, 'admission'>;

/** Made for one server: formats, kinds, admission. */
export interface Front {
  /** The resources served beside those of every cluster: definitions, policies. */
  readonly kinds: readonly Resource[];
  /** True of what the server serves of all kinds; left out: all. */
  readonly serves?: (resource: Resource) => boolean;
  /** Begins its work on the server, in whose store nothing was written yet. */
  open(server: Server): OpenFront;
}

/** A front at work on one server. */
export interface OpenFront {
  /** The forms of bodies and answers beside JSON. */
  readonly formats: Formats;
  /** Judges each change before it is stored. */
  readonly admission: Admission;
  /** Handlers of subresources that the server itself has none for. */
  readonly subresources: Readonly<Record<string, (call: ResourceCall) => Answer>>;
  /** The sender of the request. Throws ApiError for a user without access. */
  admit(request: ApiRequest, info: RequestInfo): User;
  /** Answers at paths where nothing is stored: discovery, reviews, health. */
  answer(call: Call): Answer;
  /** True if webhooks have to be asked, so that a write may be worked out more than once. */
  asksOthers(): boolean;
  /** Uses the stored objects from now on: objects were loaded. */
  loaded(): void;
}

/** The forms of bodies and answers beside JSON. */
export interface Formats {
  /** Reads and answers one request. */
  talk(request: ApiRequest, info: RequestInfo): Talk;
  /** A body in protobuf as JSON; null: it cannot be read. */
  decode(body: Uint8Array): Json | null;
  /** The binary form of an answer; null: it is JSON. */
  binary(call: ResourceCall): Binary | null;
  /** The columns of a kind. Throws ApiError if there are no tables. */
  printerOf(resource: Resource): Printer;
  /** PATCH by server-side apply. */
  apply(call: ResourceCall): Answer;
}

/** One request, and the form of its answers. */
export interface Talk {
  /** With its body in JSON, if it could be read, and answers in JSON. */
  readonly request: ApiRequest;
  /** The form of a watch whose objects are statuses. */
  readonly watch: WatchFormat;
  /** A reply in JSON in the form that was asked for. */
  reply(reply: Reply): Reply;
  /** A refusal as a Status, in the form that was asked for. */
  refuse(error: ApiError): Reply;
}

/** A binary form of answers, such as protobuf. */
export interface Binary {
  /** The part of the objects that the client wants. */
  readonly form: Representation['form'];
  /** The form of a watch. */
  readonly watch: WatchFormat;
  /** One object as a whole answer. */
  reply(
    status: number,
    object: Readonly<Record<string, unknown>>,
    warnings?: readonly string[],
  ): Reply;
}

/** The 404 of a path that leads nowhere at all. */
export function pathNotFound(): Reply {
  return textReply(404, '404 page not found\n');
}

const admin: User = {
  name: 'admin',
  groups: ['system:masters', 'system:authenticated'],
  rules: [],
};

const inJson: Formats = {
  talk: (request) => ({
    request,
    watch: jsonWatch,
    reply: (reply) => reply,
    refuse: (error) => errorReply(error),
  }),
  decode: () => null,
  binary: () => null,
  printerOf: () => {
    throw notAcceptable('only the following media types are accepted: application/json');
  },
  apply: () => {
    throw unsupportedPatchType();
  },
};

/** Every client is an admin, nothing judges changes, and every answer is JSON. */
export const noFront: Front = {
  kinds: [],
  open: () => ({
    formats: inJson,
    admission: { judge: () => {} },
    subresources: {},
    admit: () => admin,
    answer: pathNotFound,
    asksOthers: () => false,
    loaded: () => {},
  }),
};
