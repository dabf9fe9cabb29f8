/** Makes the value of a key when it is first asked for, and keeps it: there must be few keys. */
export function perKey<Key, Value extends NonNullable<unknown>>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
