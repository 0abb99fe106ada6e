// Keeps relative times true while a page is open, and adds the reader's own time to their titles.

// The server's clock counts: a reader's may be wrong.
const behind = Number(document.documentElement.dataset.now) - Date.now()
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

/** As relative() of the pages themselves. */
function relative(at, now) {
  const ahead = at > now
  const distance = Math.abs(now - at) + (ahead ? MINUTE / 2 : 0)
  if (distance >= 31 * DAY) return new Date(at).toISOString().slice(0, 10)
  const [size, unit] = [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'min'],
  ].find(([ms]) => distance >= ms) ?? [0]
  if (!size) return ahead ? 'in a moment' : 'just now'
  const amount = `${Math.floor(distance / size)} ${unit}`
  return ahead ? `in ${amount}` : `${amount} ago`
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

function tick() {
  const now = Date.now() + behind
  for (const time of document.querySelectorAll('time[data-ago]')) {
    const at = Date.parse(time.dateTime)
    const text = relative(at, now)
    if (time.textContent !== text) time.textContent = text
    if (time.dataset.ago || zone === 'UTC') continue
    time.dataset.ago = 'local'
    const own = new Date(at).toLocaleString('sv-SE', { timeZone: zone })
    time.title = `${time.title}\n${own} ${zone}`
  }
}
setInterval(tick, 15_000)
tick()
document.addEventListener('htmx:afterSettle', tick)
document.addEventListener('visibilitychange', tick)
