// The author of a page, its source, and the command that makes it again.
import type { MadeBy, SimulationDocument } from '../simulation.ts';

const project = 'https://github.com/taintmgr/taintmgr';

export function Brand() {
  return <a href={project}>taintmgr</a>;
}

interface MadeProps {
  readonly input: Pick<SimulationDocument, 'source' | 'startsAt' | 'seed' | 'seeds'> & {
    readonly made?: MadeBy;
    readonly asked?: object;
  };
}

/** The version, the cluster and its time, the seed, and the command, which an answer to what-if begins with. */
export function Made({ input: { made, asked, source, startsAt, seed, seeds } }: MadeProps) {
  const drawn = seeds === undefined ? `seed ${seed}` : `seeds ${seed} to ${seed + seeds - 1}`;
  return (
    <footer class="made">
      <h2>How this page was made</h2>
      <p>
        <Brand /> {made?.version} simulated {source} with {drawn}. Its clock shows{' '}
        {startsAt.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')} at 0:00:00.
      </p>
      {made && !asked && (
        <p>
          The same again: <code>{made.command}</code>
        </p>
      )}
    </footer>
  );
}
