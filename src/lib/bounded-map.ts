/** A map that holds at most `max` entries: the one that was set longest ago makes room for a new one. */
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
