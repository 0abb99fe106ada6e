/** A map with at most `max` entries. A new entry evicts the one that was set longest ago. */
export class BoundedMap<K, V> extends Map<K, V> {
  constructor(private readonly max: number) {
    super()
  }

  override set(key: K, value: V): this {
    this.delete(key)
    if (this.size >= this.max) this.delete(this.keys().next().value as K)
    return super.set(key, value)
  }
}
