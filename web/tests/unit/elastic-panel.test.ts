// The panel that makes bodies bend: what it offers, and what it asks the server for.
// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from 'vitest';
import { describe as inWords, kSides, placeOf, pointAnchor, sideAnchor, sideOf, type HeldPlace } from '../../src/anchors';
import { stiffness } from '../../src/format';
import { parseMessage, parseScene, type BodyInfo, type Command, type Scene } from '../../src/messages';
import { ElasticPanel } from '../../src/panels/elastic';

const bounds = { min: [-0.1, -0.01, 0], max: [0.1, 0.01, 0.02] } as { min: [number, number, number]; max: [number, number, number] };

describe('Anchors', () => {
  it('hold a twentieth of the part at a side', () => {
    expect(sideAnchor(bounds, 'x-')).toBe('x<-0.09');
    expect(sideAnchor(bounds, 'x+')).toBe('x>0.09');
    expect(sideAnchor(bounds, 'z+')).toBe('z>0.019');
  });

  it('hold what is around a point', () => {
    expect(pointAnchor(bounds, [0.1, 0, 0.01])).toMatch(/^point:0\.1,0,0\.01@0\.0161/);
  });

  it('are known again when the server tells them', () => {
    for (const side of kSides) expect(sideOf(bounds, sideAnchor(bounds, side).replace(/[<>]/, '$&='))).toBe(side);
    expect(sideOf(bounds, 'x<=-0.0899999999')).toBe('x-');
    for (const other of ['x<=-0.08', 'x>=-0.09', 'box:0,0,0,1,1,1', 'point:0,0,0@0.01', '']) expect(sideOf(bounds, other)).toBeNull();
  });

  it('are places that can be drawn', () => {
    expect(placeOf(bounds, 'x<=-0.09')).toEqual({ min: [-0.1, -0.01, 0], max: [-0.09, 0.01, 0.02], round: false });
    expect(placeOf(bounds, 'z>0.015')).toEqual({ min: [-0.1, -0.01, 0.015], max: [0.1, 0.01, 0.02], round: false });
    expect(placeOf(bounds, 'box:-1,-1,-1,0,0,0.01')).toEqual({ min: [-0.1, -0.01, 0], max: [0, 0, 0.01], round: false });
    expect(placeOf(bounds, 'point:0.5,0,1@0.25')).toEqual({ min: [0.25, -0.25, 0.75], max: [0.75, 0.25, 1.25], round: true });
    for (const wrong of ['', 'box:0,0,0', 'box:a,0,0,1,1,1', 'point:x,0,0@1', 'x<y']) expect(placeOf(bounds, wrong)).toBeNull();
  });

  it('can be read', () => {
    expect(inWords('point:0.1,0,-0.0025@0.016')).toBe('Point at 100.0, 0.0, -2.5 mm');
    expect(inWords('x<=-0.05')).toBe('x below -50.0 mm');
    expect(inWords('box:0,0,0,0.01,0.02,0.03')).toBe('Box 0.0, 0.0, 0.0, 10.0, 20.0, 30.0 mm');
  });

  it('have a stiffness that can be read', () => {
    expect([3e6, 2.2e9, 1e4].map(stiffness)).toEqual(['3 MPa', '2.2 GPa', '10 kPa']);
  });
});

describe('The panel', () => {
  let root: HTMLElement;
  let sent: Command[];
  let selected: BodyInfo | null;
  let panel: ElasticPanel;
  let scene: Scene;
  let picking: boolean;
  let held: { body: number; places: HeldPlace[] };
  let [table, bar]: BodyInfo[] = [];
  // The bar as the server has it; rigid without a description of how it bends.
  const open = (elastic?: object, motion = 'fixed') => {
    const parsed = parseScene({
      parts: [{ id: 1, body: 2, bounds, elastic }],
      bodies: [
        { id: 1, name: 'table' },
        { id: 2, name: 'bar', parts: [1], bendable: true, motion },
      ],
    });
    if (!parsed.ok) throw new Error(parsed.error);
    scene = parsed.value;
    [table, bar] = scene.bodies;
  };
  const box = (side: string) => root.querySelector(`[id="elastic-${side}"]`) as HTMLInputElement;
  const buttons = () => [...root.querySelectorAll('button')].filter((entry) => !entry.hidden).map((entry) => entry.textContent);
  const click = (text: string) => [...root.querySelectorAll('button')].find((entry) => entry.textContent === text)!.click();

  beforeEach(() => {
    root = document.createElement('div');
    sent = [];
    selected = null;
    picking = false;
    open();
    panel = new ElasticPanel(root, {
      send: (command) => void sent.push(command),
      selected: () => selected,
      part: (body) => scene.parts.find((part) => part.body === body.id) ?? null,
      held: () => '',
      toPart: (_, point) => point,
      showHeld: (body, places) => void (held = { body, places }),
      picking: (on) => void (picking = on),
    });
    const hello = parseMessage('{"type": "hello", "features": ["bend"], "materials": [{"name": "foam", "young": 5e4}, {"name": "rubber", "young": 3e6}]}');
    if (!hello.ok || hello.value.type !== 'hello') throw new Error('no hello');
    panel.allow(hello.value.features, hello.value.materials);
    selected = bar!;
    panel.show();
  });

  it('is there for bodies that can bend only', () => {
    expect(root.hidden).toBe(false);
    selected = table!;
    panel.show();
    expect(root.hidden).toBe(true);
    selected = bar!;
    panel.show();
    panel.allow([], []);
    expect(root.hidden).toBe(true);
  });

  it('asks for a body that is held at its sides and points', () => {
    (root.querySelector('[id="elastic-x-"]') as HTMLInputElement).checked = true;
    click('Hold a point…');
    expect(picking).toBe(true);
    expect(panel.clicked({ body: 1, point: [0, 0, 0] })).toBe(true); // another body: it goes on waiting
    expect(panel.clicked({ body: 2, point: [0.1, 0, 0] })).toBe(true);
    expect(panel.clicked({ body: 2, point: [0.1, 0, 0] })).toBe(false);
    expect(picking).toBe(false);
    click('Make it bend');
    const anchors = ['x<-0.09', pointAnchor(bounds, [0.1, 0, 0])];
    expect(sent).toEqual([{ type: 'bend', body: 2, material: 'rubber', young: 3e6, anchors, tets: 3000 }]);
  });

  it('cuts as finely as is asked, and says how finely it was', () => {
    const detail = root.querySelector('#elastic-detail') as HTMLSelectElement;
    detail.value = '40000';
    click('Make it bend');
    expect(sent[0]).toMatchObject({ tets: 40_000 });
    open({ law: 'stvk', coordinates: 15, tets: 13_100, anchored: true, material: 'foam', young: 5e4, anchors: [] });
    selected = bar!;
    panel.show();
    expect(detail.value).toBe('12000');
  });

  it('takes the stiffness of another material', () => {
    const material = root.querySelector('select')!;
    material.value = 'foam';
    material.dispatchEvent(new Event('change'));
    click('Make it bend');
    expect(sent[0]).toMatchObject({ material: 'foam', young: 5e4, anchors: [] });
  });

  const elastic = { law: 'warped', coordinates: 20, tets: 900, anchored: true, material: 'foam', young: 2e5, anchors: ['x<=-0.09', 'box:0,0,0,1,1,1'] };

  it('shows what was chosen for a body that bends, and keeps what it does not offer', () => {
    open(elastic);
    selected = bar!;
    panel.show();
    expect(root.querySelector('select')!.value).toBe('foam');
    expect(root.querySelector('output')!.textContent).toBe('200 kPa');
    expect([box('x-').checked, box('x+').checked]).toEqual([true, false]);
    expect(root.querySelector('#elastic-points')!.textContent).toContain('Box 0.0');
    expect(held.body).toBe(2);
    expect(held.places).toEqual([placeOf(bounds, 'x<-0.09'), placeOf(bounds, 'box:0,0,0,1,1,1')]);
    click('Bend like this');
    const anchors = ['x<-0.09', 'box:0,0,0,1,1,1'];
    expect(sent).toEqual([{ type: 'bend', body: 2, material: 'foam', young: 2e5, anchors, tets: 3000, law: 'warped', coordinates: 20 }]);
  });

  it('keeps what was chosen until the server says how the body bends', () => {
    box('y+').checked = true;
    open(); // someone has added a part
    selected = bar!;
    panel.show();
    expect(box('y+').checked).toBe(true);
    open(elastic);
    selected = bar!;
    panel.show();
    expect(box('y+').checked).toBe(false);
    open(); // it was made rigid
    selected = bar!;
    panel.show();
    expect(box('x-').checked).toBe(true);
  });

  it('waits for a material if that of the body has no name', () => {
    open({ ...elastic, material: '' });
    selected = bar!;
    panel.show();
    click('Bend like this');
    expect(sent).toEqual([]);
    root.querySelector('select')!.value = 'foam';
    click('Bend like this');
    expect(sent).toHaveLength(1);
  });

  it('says what a free body that is held somewhere will be', () => {
    const note = () => [...root.querySelectorAll('.note')].filter((entry) => !(entry as HTMLElement).hidden).at(-1)!.textContent;
    expect(note()).toMatch(/float or fall/);
    open(undefined, 'free');
    selected = bar!;
    box('x-').checked = true;
    panel.show();
    expect(note()).toMatch(/a hand takes it where it is held/);
  });

  it('stops waiting for a point', () => {
    click('Hold a point…');
    panel.cancel();
    expect(picking).toBe(false);
    expect(panel.clicked({ body: 2, point: [0, 0, 0] })).toBe(false);
  });

  it('makes a body rigid again', () => {
    expect(buttons()).toEqual(['Hold a point…', 'Make it bend']);
    open(elastic);
    selected = bar!;
    panel.show();
    click('Make it rigid');
    expect(sent).toEqual([{ type: 'bend', body: 2, material: '' }]);
  });

  it('forgets its anchors when another body is selected', () => {
    (root.querySelector('[id="elastic-x-"]') as HTMLInputElement).checked = true;
    selected = table!;
    panel.show();
    selected = bar!;
    panel.show();
    click('Make it bend');
    expect(sent[0]).toMatchObject({ anchors: [] });
  });
});
