// The name of a lane: a button that opens it, or says all that happened in it.
import type { Row } from '../model/row.ts';
import { type ChartState, toggle } from './state.ts';

interface LaneLabelProps {
  readonly row: Row;
  readonly top: number;
  readonly state: ChartState;
  readonly choose: (row: Row) => void;
}

export function LaneLabel({ row, top, state, choose }: LaneLabelProps) {
  const { kind, key, depth, label, aside, note, variant, isAgain, isOpen, height } = row;
  const place = { top: `${top}px`, height: `${height}px` };
  if (kind === 'heading') {
    return (
      <li class="label heading" style={place}>
        <h2>{label}</h2>
      </li>
    );
  }
  const open = () => toggle(state.opened, key);
  return (
    <li class={`label ${kind} depth-${depth} ${isOpen === null ? 'closed' : ''}`} style={place}>
      {isOpen !== null && (
        <button
          type="button"
          class="opener"
          aria-expanded={isOpen}
          aria-label={`${label}: ${kind === 'fold' ? 'show them' : 'what is in it'}`}
          onClick={open}
        >
          {isOpen ? '▾' : '▸'}
        </button>
      )}
      <button type="button" class="name" onClick={kind === 'fold' ? open : () => choose(row)}>
        <span class={isAgain ? 'text again' : 'text'}>
          <span class="own">{label} </span>
          {aside !== '' && <span class="aside">{aside} </span>}
          {variant !== null && <span class="variant">{variant}</span>}
        </span>
        {note !== '' && <span class="note">{note}</span>}
      </button>
    </li>
  );
}
