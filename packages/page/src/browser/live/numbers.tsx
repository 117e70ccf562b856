// The numbers under the live chart: the pods due to leave, zones, and further facts.
import type { ComponentChildren } from 'preact';
import type { LiveLeft, LivePod, LiveZone } from '../../live.ts';
import { aboutLeft, gapText, leftOf } from '../../model/live/left.ts';
import { heldBy, inOrder, nameOf, whenText } from '../../model/live/pods.ts';
import { aboutPod } from '../../model/live/rows.ts';
import { toggle } from '../state.ts';
import type { LiveState } from './state.ts';

/** The number of pods with a line; the lanes have them all. */
const shownMax = 100;

export function LiveNumbers({ state }: { readonly state: LiveState }) {
  const { zones, notes, actions } = state.shown.value;
  return (
    <section class="numbers">
      <h2>To leave</h2>
      <Wide label="Pods to leave">
        <Pods state={state} />
      </Wide>
      <h2 id="left">Who left lately</h2>
      <Left state={state} />
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

const podColumns: readonly (readonly [string, (pod: LivePod, now: number) => string])[] = [
  ['When', whenText],
  ['Node', ({ node }) => node],
  ['Evicted by', ({ evictor }) => evictor ?? '–'],
  ['Kept by', (pod) => heldBy(pod) || '–'],
  ['Because', ({ because }) => because.join('; ')],
];

function Pods({ state }: { readonly state: LiveState }) {
  const { pods, podsLeftOut } = state.shown.value;
  const now = state.now.value;
  const rest = pods.length - shownMax + podsLeftOut;
  if (pods.length === 0) return <p>No pod will leave.</p>;
  return (
    <>
      <table class="texts">
        <thead>
          <tr>
            {['Pod', ...podColumns.map(([head]) => head)].map((head) => (
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
                <th scope="row">
                  <button type="button" onClick={() => why(state, pod)}>
                    {nameOf(pod)}
                  </button>
                </th>
                {podColumns.map(([head, of]) => (
                  <Cell key={head} head={head} text={of(pod, now)} />
                ))}
              </tr>
            ))}
        </tbody>
      </table>
      {rest > 0 && <p>and {rest} more</p>}
    </>
  );
}

/** Long texts end in an ellipsis; all of it is there for who points at the row or its button. */
function Cell({ head, text }: { readonly head: string; readonly text: string }) {
  return (
    <td data-head={head}>
      <span class="cut" title={text}>
        {text}
      </span>
    </td>
  );
}

/** Says why, as a click on its lane does. */
function why(state: LiveState, pod: LivePod): void {
  state.chosen.value = {
    title: nameOf(pod),
    abouts: [aboutPod(pod, state.clock)],
    by: `lane p ${nameOf(pod)}`,
  };
}

const leftColumns: readonly (readonly [string, (one: LiveLeft) => string])[] = [
  ['Node', ({ node }) => node],
  ['Evicted by', ({ story }) => story?.evictedBy ?? ''],
  ['For', ({ story, because }) => story?.reason ?? because.join('; ')],
  ['Replaced by', ({ story }) => story?.replacedBy ?? ''],
  ['Sources', ({ story }) => story?.sources.join('; ') ?? 'seen on this page'],
];

/** The departures that the filter and the search leave; a click tells the story of one. */
function Left({ state }: { readonly state: LiveState }) {
  const input = state.shown.value;
  const left = leftOf(input, state.query.value);
  const gaps = input.record.gaps.map((gap) => (
    <p key={`${gap.from} ${gap.to} ${gap.text}`}>
      {gapText(gap, state.clock)}: {gap.text}.
    </p>
  ));
  if (left.length === 0) return <div>{[<p key="none">No pod that is known of.</p>, ...gaps]}</div>;
  return (
    <Wide label="Pods that left lately">
      <table class="texts">
        <thead>
          <tr>
            {['Pod', 'Left', ...leftColumns.map(([head]) => head)].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {left.slice(0, shownMax).map((one) => (
            <tr key={one.uid}>
              <th scope="row">
                <button type="button" onClick={() => tell(state, one)}>
                  {nameOf(one)}
                </button>
              </th>
              <Cell head="Left" text={state.clock(one.at)} />
              {leftColumns.map(([head, of]) => (
                <Cell key={head} head={head} text={of(one) || '–'} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left.length > shownMax && <p>and {left.length - shownMax} more</p>}
      {gaps}
    </Wide>
  );
}

function tell(state: LiveState, one: LiveLeft): void {
  const about = aboutLeft(state.shown.peek(), one, state.now.peek(), state.clock);
  // With its lane the address leads to it again.
  if (!state.opened.peek().has('left')) toggle(state.opened, 'left');
  state.chosen.value = { title: nameOf(one), abouts: [about], by: `lane left ${one.uid}` };
}

const columns: readonly (readonly [string, (zone: LiveZone) => string | number])[] = [
  ['State', ({ state, held }) => (held === null ? state : `${state}, held`)],
  ['Nodes', ({ nodes }) => nodes],
  ['Not ready', ({ notReady }) => notReady],
  ['Tainted', ({ tainted }) => tainted],
  ['Pending', ({ pending }) => pending],
  ['Overdue', ({ overdue }) => overdue],
  ['Held', ({ heldPods }) => heldPods],
  ['Blocked', ({ blocked }) => blocked],
  ['Stuck', ({ stuck }) => stuck],
];

/** Of the columns that count something bad those with a number. */
function Zones({ zones }: { readonly zones: readonly LiveZone[] }) {
  const always = ['State', 'Nodes'];
  const shown = columns.filter(([head, of]) => {
    return always.includes(head) || zones.some((zone) => of(zone) !== 0);
  });
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Zone</th>
          {shown.map(([head]) => (
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
            {shown.map(([head, of]) => (
              <td key={head}>{of(zone)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
