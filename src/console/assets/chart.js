// The figures of the chart's columns, below it: by pointer, and by the arrow keys when the chart has the focus.
let column = null

function read(chart, hit) {
  column?.classList.remove('current')
  column = hit
  hit?.classList.add('current')
  const readout = document.getElementById('readout')
  readout.textContent = hit ? hit.dataset.words : readout.dataset.hint
  if (hit && chart.matches(':focus')) hit.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

function startChart() {
  const chart = document.querySelector('.chart .plot')
  if (!chart || chart.dataset.started) return
  chart.dataset.started = 'true'
  const hits = [...chart.querySelectorAll('.hit')]
  for (const hit of hits) {
    // The browser's own tooltip would cover what is being read.
    const title = hit.querySelector('title')
    hit.dataset.words = title.textContent
    title.remove()
  }
  read(chart, null)
  chart.addEventListener('pointermove', (event) => {
    const hit = event.target.closest('.hit')
    if (hit && hit !== column) read(chart, hit)
  })
  chart.addEventListener('pointerleave', () => read(chart, null))
  chart.addEventListener('blur', () => read(chart, null))
  chart.addEventListener('keydown', (event) => {
    const at = hits.indexOf(column)
    const to = {
      ArrowLeft: at < 0 ? hits.length - 1 : Math.max(at - 1, 0),
      ArrowRight: at < 0 ? 0 : Math.min(at + 1, hits.length - 1),
      Home: 0,
      End: hits.length - 1,
    }[event.key]
    if (to === undefined || hits.length === 0) return
    event.preventDefault()
    read(chart, hits[to])
  })
}
startChart()
document.addEventListener('htmx:afterSettle', startChart)
