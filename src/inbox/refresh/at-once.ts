import { BUSY_POLL_MS, FLIGHT_LEASE_MS, MAX_FLIGHTS, MAX_PROJECT_FLIGHTS } from './limits'

/*
 * How many refreshes an isolate makes at once. Each may hold some megabytes of a vendor's answers, and an isolate has 128 MB for everything.
 */

type Flight = { project: string; since: number }
const flights = new Set<Flight>()

/**
 * Does a piece of work once there is room for it.
 *
 * @param until when it is too late (ms)
 * @returns null if there was no room in time
 */
export async function inFlight<T>(project: string, until: number, work: () => Promise<T>): Promise<T | null> {
  while (!hasRoom(project)) {
    if (Date.now() >= until) return null
    await scheduler.wait(BUSY_POLL_MS)
  }
  const flight = { project, since: Date.now() }
  flights.add(flight)
  try {
    return await work()
  } finally {
    flights.delete(flight)
  }
}

function hasRoom(project: string): boolean {
  // The runtime may have ended the request of an old one without a word.
  for (const flight of flights) if (flight.since < Date.now() - FLIGHT_LEASE_MS) flights.delete(flight)
  const own = [...flights].filter((flight) => flight.project === project).length
  return flights.size < MAX_FLIGHTS && own < MAX_PROJECT_FLIGHTS
}
