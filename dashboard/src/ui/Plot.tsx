// The drawing of a chart: its own chunk, because it holds uPlot.

import 'uplot/dist/uPlot.min.css';
import { useEffect, useEffectEvent, useRef } from 'react';
import uPlot from 'uplot';
import type { Series } from './chart.ts';

const HEIGHT = 220;
const FONT = '12px Inter, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';
const STEPS = [1, 2, 3, 4, 6, 7, 12, 14, 24, 28, 48, 60, 91, 182];
const MOST_POINTS = 31;

interface PlotProps {
  ticks: string[];
  series: Series[];
  shape: 'line' | 'bars';
  format: (value: number) => string;
  onPoint: (index: number | null) => void;
}

export default function Plot({ onPoint, format, ...drawn }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const tell = useEffectEvent(onPoint);
  const shown = useEffectEvent(format);
  const key = JSON.stringify(drawn);
  useEffect(() => {
    if (!box.current) return;
    return draw(
      box.current,
      JSON.parse(key),
      (value) => shown(value),
      (index) => tell(index),
    );
  }, [key]);
  return <div ref={box} style={{ height: HEIGHT }} />;
}

type Drawn = Pick<PlotProps, 'ticks' | 'series' | 'shape'>;

/** Draw a chart that follows the width of its box and the theme; return the way to remove it. */
function draw(box: HTMLElement, drawn: Drawn, format: PlotProps['format'], onPoint: PlotProps['onPoint']): () => void {
  const width = Math.max(box.clientWidth, 1);
  const points = drawn.ticks.map((_, index) => index);
  const data: uPlot.AlignedData = [points, ...drawn.series.map(({ values }) => values)];
  const plot = new uPlot({ ...optionsOf(drawn, format, onPoint), width, height: HEIGHT }, data, box);
  const sizes = new ResizeObserver(() => plot.setSize({ width: Math.max(box.clientWidth, 1), height: HEIGHT }));
  const themes = new MutationObserver(() => plot.redraw());
  sizes.observe(box);
  themes.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
  return () => {
    sizes.disconnect();
    themes.disconnect();
    plot.destroy();
  };
}

function optionsOf({ ticks, series, shape }: Drawn, format: PlotProps['format'], onPoint: PlotProps['onPoint']) {
  const margin = shape === 'bars' ? 0.5 : 0;
  const last = Math.max(ticks.length - 1, 1);
  const gutter = 16 + 7 * Math.max(...series.map(({ label }) => label.length));
  return {
    padding: [12, gutter, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-margin, last + margin] },
      y: { range: (_: uPlot, __: number, most: number) => [0, most > 0 ? most * 1.08 : 1] },
    },
    axes: [
      {
        ...looks(),
        grid: { show: false },
        gap: 10,
        incrs: STEPS,
        space: 64,
        values: (_, splits) => splits.map((at) => ticks[at] ?? ''),
      },
      {
        ...looks(),
        grid: { stroke: () => token('--line'), width: 1 },
        size: (_, labels) => 16 + 7 * Math.max(1, ...(labels ?? []).map(({ length }) => length)),
        space: 40,
        incrs: series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
          ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7]
          : undefined,
        values: (_, splits) => splits.map(format),
      },
    ],
    series: [{}, ...series.map((each) => lineOf(each, shape, ticks.length))],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
      draw: [(plot) => nameLines(plot, series)],
    },
  } satisfies Omit<uPlot.Options, 'width' | 'height'>;
}

function looks(): uPlot.Axis {
  return { stroke: () => token('--soft'), font: FONT, ticks: { show: false } };
}

function lineOf(each: Series, shape: Drawn['shape'], periods: number): uPlot.Series {
  const stroke = () => colorOf(each);
  const isBar = shape === 'bars' && !each.isBefore;
  const isFew = periods <= MOST_POINTS && !each.isBefore;
  return {
    stroke,
    width: isBar ? 0 : 2,
    dash: each.isBefore ? [5, 5] : undefined,
    fill: isBar ? stroke : undefined,
    paths: isBar ? uPlot.paths.bars?.({ size: [0.6, 48] }) : undefined,
    points: { show: isFew && shape === 'line', size: 6, fill: stroke },
  };
}

const ROOM = 16;

/** Write the name of each line at its end, none over another. */
function nameLines(plot: uPlot, series: Series[]): void {
  const { ctx, bbox } = plot;
  const scale = uPlot.pxRatio;
  const ends = series.map((each) => ({ each, y: plot.valToPos(lastOf(each.values), 'y', true) }));
  ends.sort((one, other) => one.y - other.y);
  ctx.save();
  ctx.font = FONT.replace(/^\d+/, (size) => String(Number(size) * scale));
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  let least = bbox.top;
  let left = ends.length;
  for (const { each, y } of ends) {
    left -= 1;
    const lowest = bbox.top + bbox.height - left * ROOM * scale;
    const at = Math.min(Math.max(y, least), lowest);
    ctx.fillStyle = colorOf(each);
    ctx.fillText(each.label, bbox.left + bbox.width + 8 * scale, at);
    least = at + ROOM * scale;
  }
  ctx.restore();
}

function lastOf(values: Series['values']): number {
  return values.findLast((value) => value !== null) ?? 0;
}

function colorOf({ color = 1, isBefore }: Series): string {
  return token(isBefore ? '--soft' : `--chart-${color}`);
}

function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
