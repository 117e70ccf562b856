// The typed API of @kubernetes/client-node on our transport.
import type {
  Configuration,
  RequestContext,
  ResponseBody,
  ResponseContext,
} from '@kubernetes/client-node';
import type { ApiRequest } from '../proto/api-request.ts';
import { AnswerCollector, type ExchangeInput } from '../proto/exchange.ts';
import { inputSink, type Transport } from '../transport/sink.ts';

/** One of the classes of @kubernetes/client-node, e.g. CoreV1Api. */
export type TypedApi<T> = new (configuration: Configuration) => T;

/** Stands for the server in the typed API's URLs; where it really is the transport knows. */
const placeholder = 'https://api';

/**
 * A typed API of @kubernetes/client-node whose requests go through the transport: over connections
 * that are kept, with its credentials. Calls reject as that package's do, and with an Error where
 * no answer came.
 */
export async function typedApi<T>(api: TypedApi<T>, transport: Transport): Promise<T> {
  const client = await import('@kubernetes/client-node');
  const { createConfiguration, ServerConfiguration, wrapHttpLibrary } = client;
  const configuration = createConfiguration({
    baseServer: new ServerConfiguration(placeholder, {}),
    httpApi: wrapHttpLibrary({
      send: async (request) => {
        const { status, headers, body } = await exchange(transport, request);
        return new client.ResponseContext(status, { ...headers }, wholeBody(body));
      },
    }),
  });
  return new api(configuration);
}

type Response = Pick<ResponseContext, 'headers'> & {
  readonly status: number;
  readonly body: string;
};

function exchange(transport: Transport, request: RequestContext): Promise<Response> {
  const signal = request.getSignal();
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const collector = new AnswerCollector();
    const onAbort = (): void => {
      hangUp();
      reject(signal?.reason);
    };
    const hear = (input: ExchangeInput): void => {
      const answer = collector.take(input);
      if (!answer) return;
      signal?.removeEventListener('abort', onAbort);
      if (answer.kind === 'none') reject(new Error(answer.message));
      else resolve(answer);
    };
    const hangUp = transport.send(outgoing(request), inputSink('', hear));
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The typed API makes no other requests than these. */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function outgoing(request: RequestContext): ApiRequest {
  const method = methods.find((one) => one === request.getHttpMethod());
  const body = request.getBody() ?? null;
  if (!method || (body !== null && typeof body !== 'string')) {
    throw new Error(`cannot send ${request.getHttpMethod()} ${request.getUrl()}`);
  }
  const { pathname, search } = new URL(request.getUrl());
  const headers = Object.entries(request.getHeaders()).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  return { method, path: pathname + search, headers: Object.fromEntries(headers), body };
}

function wholeBody(body: string): ResponseBody {
  return {
    text: async () => body,
    binary: async () => Buffer.from(body),
    stream: () => new Blob([body]).stream(),
  };
}
