/** One line of a unit file. */
export interface Assignment {
  section: string;
  key: string;
  value: string;
}

/** Lines that are looked at; a unit file of more is none. */
const MAX_LINES = 10_000;

/** What a unit file or a drop-in assigns, in its order. A line that ends in a backslash goes on with the next. */
export function assignmentsOf(text: string): Assignment[] {
  const found: Assignment[] = [];
  let section = '';
  let open = '';
  for (const line of text.split('\n', MAX_LINES)) {
    const trimmed = line.trim();
    if (/^[#;]/.test(trimmed)) continue; // also between two parts of a line
    if (trimmed.endsWith('\\')) {
      open += `${trimmed.slice(0, -1)} `;
      continue;
    }
    const whole = open + trimmed;
    open = '';
    section = /^\[(.+)\]$/.exec(whole)?.[1] ?? section;
    const [, key, value = ''] = /^([A-Za-z]+)\s*=\s*(.*)$/.exec(whole) ?? [];
    if (key !== undefined) found.push({ section, key, value });
  }
  return found;
}
