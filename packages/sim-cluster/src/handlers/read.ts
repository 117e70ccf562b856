// Handles GET, LIST and WATCH.

import { notFound } from '../objects/errors.ts';
import { storageOf } from '../resources/resource.ts';
import { type Answer, bodyReply, jsonReply, jsonWatch, listChunks } from '../wire/answer.ts';
import { readListOptions, readResourceVersion } from '../wire/list-options.ts';
import { negotiate } from '../wire/negotiation.ts';
import { objectReply, presenterOf, whenReached } from './context.ts';
import type { ResourceCall } from './front.ts';
import { type Listed, listObjects } from './list.ts';
import { Watch } from './watch.ts';

/** GET of one object, or of its status. */
export function handleGet(call: ResourceCall): Answer {
  const { backend, resource, path, info } = call;
  const asked = info.query.get('resourceVersion') ?? '';
  readResourceVersion(asked, false);
  return whenReached(call, asked, () => {
    const { storeKey } = storageOf(resource);
    const object = backend.store.get(storeKey, path.namespace, path.name);
    if (!object) throw notFound(resource, path.name);
    return objectReply(call, 200, object);
  });
}

/** GET of a collection. */
export function handleList(call: ResourceCall): Answer {
  const { backend, resource, path, info } = call;
  const options = readListOptions(info.query);
  const presenter = presenterOf(call);
  const asked = options.continueToken ? '' : options.resourceVersion;
  readResourceVersion(asked, true);
  return whenReached(call, asked, () =>
    listReply(call, presenter, listObjects(backend.store, resource, path.namespace, options)),
  );
}

/** A list in the form the client wants, in pieces unless it is indented. */
export function listReply(
  call: ResourceCall,
  presenter: ReturnType<typeof presenterOf>,
  listed: Listed,
): Answer {
  const list = presenter.list(listed);
  const binary = call.formats.binary(call);
  if (binary) return binary.reply(200, list);
  const { pretty } = negotiate(call.request.headers, call.info.query.get('pretty'));
  return pretty ? jsonReply(200, list, true) : bodyReply(200, listChunks(list));
}

/** GET of a collection with `watch`. */
export function handleWatch(call: ResourceCall): Answer {
  const { backend, resource, path, info } = call;
  const options = readListOptions(info.query);
  const presenter = presenterOf(call);
  const watch = new Watch(backend, resource, path.namespace, options);
  const format = call.formats.binary(call)?.watch ?? jsonWatch;
  const isPlain = format === jsonWatch;
  // Garbage collectors follow the metadata of everything.
  const isWhole = path.namespace === '' && presenter.form === 'object';
  return {
    kind: 'stream',
    headers: format.headers,
    start: (to, end) => {
      const agent = call.request.headers['user-agent'] ?? '';
      const close = call.watchers.open(agent, resource.plural, isWhole);
      let first = true;
      const emit = (type: string, object: Readonly<Record<string, unknown>>): void => {
        first = false;
        if (isPlain && to.value) to.value({ type, object });
        else to.data(format.event(type, object));
      };
      watch.start({
        event: (type, object) => {
          try {
            emit(type, presenter.item(object, first));
          } catch (error) {
            // A client that starts a new watch misses nothing; one that gets only the next event
            // would miss this one.
            end();
            throw error;
          }
        },
        bookmark: (rv, initialEventsEnd) =>
          emit('BOOKMARK', presenter.bookmark(rv, initialEventsEnd, first)),
        error: (status) => emit('ERROR', { ...status }),
        end,
      });
      return () => {
        watch.stop();
        close();
      };
    },
  };
}
