// Who asks the API server in a story of takeover, where the policies look at that.
import type { Exchange, VirtualClock } from '@taintmgr/sim-cluster';

export const ourUser = 'system:serviceaccount:taintmgr-system:taintmgr-controller';
export const ourAgent = 'taintmgr-controller/1';
export const upstreamUser = 'system:serviceaccount:kube-system:node-controller';

/** A line on which somebody asks as that user, with that program. */
export function asUser(exchange: Exchange, user: string, agent: string): Exchange {
  const who = {
    'impersonate-user': user,
    'impersonate-group': 'system:masters',
    'user-agent': agent,
  };
  return (request, sink) => exchange({ ...request, headers: { ...request.headers, ...who } }, sink);
}

/** A line on which that program asks: the API server names who writes a field after it. */
export function asProgram(exchange: Exchange, agent: string): Exchange {
  return (request, sink) =>
    exchange({ ...request, headers: { ...request.headers, 'user-agent': agent } }, sink);
}

/**
 * A line on which streams are heard in a turn of their own, at the same instant: what one client does on
 * hearing of it is then not done within the request of another, to whom it would be put down.
 */
export function inTurn(exchange: Exchange, clock: VirtualClock, isOver: () => boolean): Exchange {
  return (request, sink) => {
    if (isOver()) return () => {};
    if (!request.path.includes('watch=true')) return exchange(request, sink);
    let isOpen = true;
    const later = (part: () => void): void => {
      clock.after(0, () => {
        if (isOpen && !isOver()) part();
      });
    };
    const hangUp = exchange(request, {
      head: (status, headers) => later(() => sink.head(status, headers)),
      data: (chunk) => later(() => sink.data(chunk)),
      end: () => later(() => sink.end()),
      alive: (age) => later(() => sink.alive?.(age)),
      reset: () => later(() => sink.reset()),
    });
    return () => {
      isOpen = false;
      hangUp();
    };
  };
}
