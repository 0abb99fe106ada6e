// Keeps relative times true while a page is open, and shows the reader's own time: in their titles, or in place of UTC if that was chosen.

// The server's clock counts: a reader's may be wrong.
const behind = Number(document.documentElement.dataset.now) - Date.now()
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

/** As relative() of the pages themselves. */
function relative(at, now) {
  const distance = Math.abs(now - at)
  const [minutes, hours, days] = [MINUTE, HOUR, DAY].map((size) => Math.round(distance / size))
  if (days > 30) return new Date(at).toISOString().slice(0, 10)
  if (minutes === 0) return at > now ? 'in a moment' : 'just now'
  const amount = minutes < 60 ? `${minutes} min` : hours < 24 ? `${hours} h` : `${days} d`
  return at > now ? `in ${amount}` : `${amount} ago`
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** A time in the reader's zone, as `2026-05-04 05:02:01`. */
const own = (at) => new Date(at).toLocaleString('sv-SE', { timeZone: zone })
/** The zone's offset then, as `GMT+2`. */
const offset = (at) =>
  new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'shortOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName').value

function tick() {
  const now = Date.now() + behind
  for (const time of document.querySelectorAll('time:not([data-zone], [data-ahead])')) {
    const at = Date.parse(time.dateTime)
    const text = relative(at, now)
    if (time.textContent !== text) time.textContent = text
    if (time.dataset.ago || zone === 'UTC') continue
    time.dataset.ago = 'local'
    time.title = `${time.title}\n${own(at)} ${zone}`
  }
  for (const time of document.querySelectorAll('time[data-zone]')) {
    const at = Date.parse(time.dateTime)
    time.title = relative(at, now)
    if (time.dataset.zone === 'local') time.textContent = `${own(at)} ${offset(at)}`
  }
}
setInterval(tick, 15_000)
tick()
document.addEventListener('htmx:afterSettle', tick)
document.addEventListener('visibilitychange', tick)
