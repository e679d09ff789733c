import asyncio, random, time
from ottla.simulation.loop import VirtualTimeLoop
from ottla.simulation.network import SimulatedNetwork
from ottla.simulation.broker import SimulatedMachine
from ottla.simulation.store import MemoryTree
from ottla.protocol.apis.metadata import *
async def main():
    loop=asyncio.get_running_loop()
    m=SimulatedMachine(SimulatedNetwork(loop, random.Random(1)), MemoryTree(), random.Random(2))
    await m.start()
    c=await m.connect()
    print(await c.request(MetadataRequest(topics=None)))
    j=loop.jumps; t=time.time()
    await asyncio.sleep(3600)
    print("jumps/h", loop.jumps-j, time.time()-t)
    await m.stop()
    print("stopped", asyncio.all_tasks())
    await m.start()
    await m.crash()
    print("crashed", asyncio.all_tasks())
    await m.start()
    print("up again")
    await m.kill()
    print("killed")
loop=VirtualTimeLoop()
with asyncio.Runner(loop_factory=lambda: loop) as r:
    r.run(main()); loop.check()
