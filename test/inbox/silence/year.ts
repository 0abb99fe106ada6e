/* A simulated year of a connection's deliveries, hour by hour. */

const HOURS = 24 * 365

/** Kinds of connections. `weekly`: things that happen at the vendor in a week. `office`: hardly anything outside office hours. */
export const KINDS = {
  '3 a week': { weekly: 3 },
  '20 a week': { weekly: 20 },
  '20 a week, in office hours': { weekly: 20, office: true },
  '200 a week': { weekly: 200 },
  '200 a week, in office hours': { weekly: 200, office: true },
  '3,000 a week': { weekly: 3000 },
  'renewals on one day a month': { weekly: 20, monthly: true },
} satisfies Record<string, Business>

export type Business = { weekly: number; office?: boolean; monthly?: boolean }

/** Random numbers from 0 to 1 that begin with a seed, so that each run has the same ones. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Whether each hour of a year has a delivery. Demand drifts, varies from day to day, and rests on 11 holidays and in the last week. */
export function yearOf({ weekly, office = false, monthly = false }: Business, random: () => number): boolean[] {
  const normal = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())
  const holidays = new Set(Array.from({ length: 11 }, () => Math.floor(random() * 365)))
  const active = Array<boolean>(HOURS).fill(false)
  let trend = 1
  for (let day = 0; day < 365; day++) {
    trend *= Math.exp(0.02 * normal())
    const isOff = holidays.has(day) || day > 357
    const rest = isOff ? (office ? 0.15 : 0.5) : 1
    const weekend = office && day % 7 > 4 ? 0.15 : 1
    const demand = trend * Math.exp(0.35 * normal()) * rest * weekend
    for (let hour = 0; hour < 24; hour++) {
      const usual = (weekly / 168) * shapeOf(hour, office) * demand
      const mean = monthly ? (day % 30 === 0 && hour > 2 && hour < 8 ? 40 : usual * 0.15) : usual
      active[day * 24 + hour] = random() < 1 - Math.exp(-mean)
    }
  }
  return active
}

function shapeOf(hour: number, office: boolean): number {
  if (office) return hour > 7 && hour < 19 ? 1.9 : 0.1
  return 1 + 0.7 * Math.sin((hour - 8) / 3.8)
}
