// The losses as a list, where there is no room for a map: each with the workloads that it harms most, and its
// row as a strip.
import type { HeatRow } from '../../model/heat-map.ts';
import { crossedIn, harmText, minutesText } from '../../model/losses.ts';
import { count } from '../../model/words.ts';
import { shortName, workloadKey } from '../../model/workloads.ts';
import type { EachState } from './state.ts';

/** The number of workloads that are named. */
const worstMax = 3;

export function List({ state }: { readonly state: EachState }) {
  const { rows } = state.map.value;
  return (
    <ol class="losses">
      {rows.map((row) => (
        <Item key={row.key} row={row} state={state} />
      ))}
    </ol>
  );
}

function Item({ row, state }: { readonly row: HeatRow; readonly state: EachState }) {
  const { loss, workloads } = row;
  const more = workloads.length - worstMax;
  const marks = marksOf(row);
  return (
    <li>
      <button
        type="button"
        class="loss"
        aria-expanded={state.chosen.value?.loss === row.key}
        onClick={() => {
          state.chosen.value = { loss: row.key, column: null };
        }}
      >
        <span class="own">
          {loss.name}
          {loss.taint !== undefined && <span class="aside"> {loss.taint}</span>}
        </span>
        <span>
          {loss.failed === null ? `${minutesText(row.podMinutesLost)} pod-minutes` : 'failed'}
        </span>
      </button>
      <span class="strip" aria-hidden="true">
        {row.cells.map((cell, at) => (
          <i
            key={state.map.value.columns[at]?.key ?? ''}
            class={cell ? `heat level-${cell.level}${cell.isUnknown ? ' unsure' : ''}` : ''}
          />
        ))}
      </span>
      {marks !== '' && <p class="crossed">{marks}</p>}
      {workloads.slice(0, worstMax).map((one) => (
        <p key={workloadKey(one)}>
          {shortName(one)}: {harmText(one)}
          {one.unknown ? ' ?' : ''}
        </p>
      ))}
      {more > 0 && <p class="about">and {count(more, 'workload')} more</p>}
      {workloads.length === 0 && loss.failed === null && <p class="about">harms nothing</p>}
    </li>
  );
}

function marksOf({ broken, loss }: HeatRow): string {
  const crossed = crossedIn(loss);
  return [
    ...(crossed > 0 ? [`${count(crossed, 'limit')} crossed`] : []),
    ...(broken > 0 ? [`${count(broken, 'budget')} broken`] : []),
    ...(loss.unplaced.atEnd > 0 ? [`no room for ${count(loss.unplaced.atEnd, 'pod')}`] : []),
    ...(loss.blocked > 0 ? [`${count(loss.blocked, 'pod')} blocked`] : []),
  ].join(', ');
}
