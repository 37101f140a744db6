#!/usr/bin/python3
"""Cameras that play recordings over RTSP on loopback, coded in every way that `auscult watch` reads.

    tools/camera.py PORT RECORDING.wav
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

CODINGS = {
    "l16": "audioconvert ! audio/x-raw,format=S16BE,channels=2,rate=16000 ! rtpL16pay name=pay0 pt=96",
    "pcmu": "audioresample ! audioconvert ! audio/x-raw,channels=1,rate=8000 ! mulawenc ! rtppcmupay name=pay0 pt=0",
    "pcma": "audioresample ! audioconvert ! audio/x-raw,channels=1,rate=8000 ! alawenc ! rtppcmapay name=pay0 pt=8",
    "aac": "audioconvert ! audio/x-raw,channels=1,rate=16000 ! avenc_aac ! rtpmp4gpay name=pay0 pt=96",
    # What it cannot read, and what has no sound at all.
    "g722": "audioconvert ! audio/x-raw,channels=1,rate=16000 ! avenc_g722 ! rtpg722pay name=pay0 pt=9",
    "picture": None,
}


def main(port, recording):
    Gst.init(None)
    server = GstRtspServer.RTSPServer.new()
    server.set_address("127.0.0.1")
    server.set_service(port)
    sound = f'filesrc location="{recording}" ! wavparse ! identity sync=true'
    for name, coding in CODINGS.items():
        factory = GstRtspServer.RTSPMediaFactory.new()
        picture = "videotestsrc ! video/x-raw,format=UYVY,width=64,height=64,framerate=5/1 ! rtpvrawpay name=pay0 pt=96"
        factory.set_launch(f"( {sound} ! {coding} )" if coding else f"( {picture} )")
        factory.set_shared(False)
        server.get_mount_points().add_factory(f"/{name}", factory)
    server.attach(None)
    print("ready", flush=True)
    GLib.MainLoop().run()


main(*sys.argv[1:])
