/** Contacts as a CRM holds them: shared and missing e-mails, namesakes, phones in several forms. Deterministic. */
const FIRST = ['Ann', 'Ben', 'Chloé', 'Dəniz', 'Edgar', 'Fatima', 'Göran', 'Hana', 'Iñigo', '美咲'];
const LAST = ['Lee', 'Óg', 'Müller', 'Nowak', 'Silva', 'Okafor', 'Ødegård', 'Đorđević'];

export function people(count: number, from = 1): readonly Record<string, unknown>[] {
  return Array.from({ length: count }, (_, i) => person(from + i));
}

function person(n: number): Record<string, unknown> {
  const first_name = FIRST[n % FIRST.length];
  const last_name = `${LAST[n % LAST.length]} ${Math.floor(n / 80)}`;
  const shape = n % 7;
  const email = shape === 0 ? `office${Math.floor(n / 14)}@example.com` : `Person.${n}@example.com`;
  const phone = shape === 1 ? `(030) 55 ${String(100_000 + n)}` : shape === 2 ? '+49 30 5550000' : '';
  if (shape === 3) return { first_name, last_name, phone: `+44 7700 ${String(900_000 + n)}` };
  if (shape === 4) return { first_name, last_name: `${last_name} ${n}`, organization: 'Example & Co' };
  return { first_name, last_name, email, phone, organization: shape === 5 ? 'Example Ltd' : '' };
}
