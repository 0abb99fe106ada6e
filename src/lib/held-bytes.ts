/** Something that takes memory, for one or more owners. */
export type Holding = { readonly owners: readonly string[]; bytes: number }

/** What takes memory in an isolate, oldest first, and how many bytes each owner has of it. */
export function heldBytes<H extends Holding>() {
  const all = new Set<H>()
  const byOwner = new Map<string, number>()
  let total = 0
  const of = (owner: string) => byOwner.get(owner) ?? 0
  const count = ({ owners }: H, bytes: number) => {
    total += bytes
    for (const owner of owners) {
      const now = of(owner) + bytes
      if (now > 0) byOwner.set(owner, now)
      else byOwner.delete(owner)
    }
  }
  return {
    /** Oldest first. */
    all: all as Iterable<H>,
    total: () => total,
    of,
    add: (holding: H) => {
      all.add(holding)
      count(holding, holding.bytes)
    },
    /** Counts further bytes of a holding; none if it has left. */
    grow: (holding: H, bytes: number) => {
      if (!all.has(holding)) return
      holding.bytes += bytes
      count(holding, bytes)
    },
    leave: (holding: H) => {
      if (all.delete(holding)) count(holding, -holding.bytes)
    },
    /** The oldest holding of the owners that hold the most bytes. @param among the holdings to choose from; all by default */
    heaviest: (among: (holding: H) => boolean = () => true): H | undefined => {
      const weightOf = ({ owners }: H) => owners.reduce((sum, owner) => sum + of(owner), 0)
      let found: { holding: H; weight: number } | undefined
      for (const holding of all) {
        if (!among(holding)) continue
        const weight = weightOf(holding)
        if (!found || weight > found.weight) found = { holding, weight }
      }
      return found?.holding
    },
  }
}
