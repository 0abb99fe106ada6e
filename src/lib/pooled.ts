/**
 * Does work for each of a list, some at once.
 *
 * @returns the results, in the order of the list
 * @throws what the work throws first; what has begun by then goes on
 */
export async function pooled<T, R>(atOnce: number, list: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let i = next++; i < list.length; i = next++) results[i] = await work(list[i] as T)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker))
  return results
}
