// The panel that makes bodies bend: what it offers, and what it asks the server for.
// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from 'vitest';
import { parseMessage, parseScene, type BodyInfo, type Command } from '../../src/messages';
import { ElasticPanel, pointAnchor, sideAnchor, stiffness } from '../../src/panels/elastic';

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

  it('have a stiffness that can be read', () => {
    expect([3e6, 2.2e9, 1e4].map(stiffness)).toEqual(['3 MPa', '2.2 GPa', '10 kPa']);
  });
});

describe('The panel', () => {
  let root: HTMLElement;
  let sent: Command[];
  let selected: BodyInfo | null;
  let panel: ElasticPanel;
  const scene = parseScene({
    parts: [{ id: 1, body: 2, bounds }],
    bodies: [
      { id: 1, name: 'table' },
      { id: 2, name: 'bar', parts: [1], bendable: true },
    ],
  });
  if (!scene.ok) throw new Error(scene.error);
  const [table, bar] = scene.value.bodies as [BodyInfo, BodyInfo];
  const click = (text: string) => [...root.querySelectorAll('button')].find((entry) => entry.textContent === text)!.click();

  beforeEach(() => {
    root = document.createElement('div');
    sent = [];
    selected = null;
    panel = new ElasticPanel(root, {
      send: (command) => void sent.push(command),
      selected: () => selected,
      part: (body) => scene.value.parts.find((part) => part.body === body.id) ?? null,
      held: () => '',
      toPart: (_, point) => point,
    });
    const hello = parseMessage('{"type": "hello", "features": ["bend"], "materials": [{"name": "foam", "young": 5e4}, {"name": "rubber", "young": 3e6}]}');
    if (!hello.ok || hello.value.type !== 'hello') throw new Error('no hello');
    panel.allow(hello.value.features, hello.value.materials);
    selected = bar;
    panel.show();
  });

  it('is there for bodies that can bend only', () => {
    expect(root.hidden).toBe(false);
    selected = table;
    panel.show();
    expect(root.hidden).toBe(true);
    selected = bar;
    panel.show();
    panel.allow([], []);
    expect(root.hidden).toBe(true);
  });

  it('asks for a body that is held at its sides and points', () => {
    (root.querySelector('[id="elastic-x-"]') as HTMLInputElement).checked = true;
    click('Hold a point…');
    expect(panel.clicked({ body: 1, point: [0, 0, 0] })).toBe(true); // another body: it goes on waiting
    expect(panel.clicked({ body: 2, point: [0.1, 0, 0] })).toBe(true);
    expect(panel.clicked({ body: 2, point: [0.1, 0, 0] })).toBe(false);
    click('Make it bend');
    const anchors = ['x<-0.09', pointAnchor(bounds, [0.1, 0, 0])];
    expect(sent).toEqual([{ type: 'bend', body: 2, material: 'rubber', young: 3e6, anchors }]);
  });

  it('takes the stiffness of another material', () => {
    const material = root.querySelector('select')!;
    material.value = 'foam';
    material.dispatchEvent(new Event('change'));
    click('Make it bend');
    expect(sent[0]).toMatchObject({ material: 'foam', young: 5e4, anchors: [] });
  });

  it('makes a body rigid again', () => {
    click('Make it rigid');
    expect(sent).toEqual([{ type: 'bend', body: 2, material: '' }]);
  });

  it('forgets its anchors when another body is selected', () => {
    (root.querySelector('[id="elastic-x-"]') as HTMLInputElement).checked = true;
    selected = table;
    panel.show();
    selected = bar;
    panel.show();
    click('Make it bend');
    expect(sent[0]).toMatchObject({ anchors: [] });
  });
});
