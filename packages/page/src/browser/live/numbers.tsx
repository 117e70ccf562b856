// The numbers under the live chart: the pods that are to leave, zones, and what else is said.
import type { ComponentChildren } from 'preact';
import type { LiveZone } from '../../live.ts';
import { heldBy, inOrder, nameOf, whenText } from '../../model/live/pods.ts';
import type { LiveState } from './state.ts';

/** So many have a line; the lanes have them all. */
const shownMax = 100;

export function LiveNumbers({ state }: { readonly state: LiveState }) {
  const { zones, notes, actions } = state.shown.value;
  return (
    <section class="numbers">
      <h2>To leave</h2>
      <Wide label="Pods to leave">
        <Pods state={state} />
      </Wide>
      {actions.length > 0 && <h2>Pauses, limits and drains</h2>}
      {actions.map(({ kind, name, text }) => (
        <p key={`${kind} ${name}`}>
          {kind} {name}: {text}
        </p>
      ))}
      <h2>Zones</h2>
      <Wide label="Zones in numbers">
        <Zones zones={zones} />
      </Wide>
      {notes.map((note) => (
        <p key={note}>Note: {note}</p>
      ))}
    </section>
  );
}

function Wide({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="wide" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

function Pods({ state }: { readonly state: LiveState }) {
  const { pods, podsLeftOut } = state.shown.value;
  const now = state.now.value;
  const rest = pods.length - shownMax + podsLeftOut;
  if (pods.length === 0) return <p>No pod is to leave.</p>;
  return (
    <>
      <table class="texts">
        <thead>
          <tr>
            {['Pod', 'When', 'Node', 'Evicted by', 'Kept by', 'Because'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {inOrder(pods)
            .slice(0, shownMax)
            .map((pod) => (
              <tr key={pod.uid}>
                <th scope="row">{nameOf(pod)}</th>
                <td>{whenText(pod, now)}</td>
                <td>{pod.node}</td>
                <td>{pod.evictor ?? '–'}</td>
                <td>{heldBy(pod) || '–'}</td>
                <td>{pod.because.join('; ')}</td>
              </tr>
            ))}
        </tbody>
      </table>
      {rest > 0 && <p>and {rest} more</p>}
    </>
  );
}

const columns: readonly (readonly [string, (zone: LiveZone) => string | number])[] = [
  ['State', ({ state, held }) => (held === null ? state : `${state}, held`)],
  ['Nodes', ({ nodes }) => nodes],
  ['Not ready', ({ notReady }) => notReady],
  ['Tainted', ({ tainted }) => tainted],
  ['Pending', ({ pending }) => pending],
  ['Overdue', ({ overdue }) => overdue],
  ['Paused', ({ paused }) => paused],
  ['Blocked', ({ blocked }) => blocked],
  ['Stuck', ({ stuck }) => stuck],
];

function Zones({ zones }: { readonly zones: readonly LiveZone[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Zone</th>
          {columns.map(([head]) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {zones.map((zone) => (
          <tr key={zone.name}>
            <th scope="row">{zone.name || 'no zone'}</th>
            {columns.map(([head, of]) => (
              <td key={head}>{of(zone)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
